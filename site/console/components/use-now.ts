import { useEffect, useState } from "preact/hooks";

const TICK_MS = 5_000;

/** The time, updated every few seconds. One timer serves every time on the page. */
export function useNow(): Date {
  const [now, setNow] = useState(() => new Date());
  useEffect(() => {
    listeners.add(setNow);
    timer ??= setInterval(tick, TICK_MS);
    return () => {
      listeners.delete(setNow);
      if (listeners.size > 0) return;
      clearInterval(timer);
      timer = undefined;
    };
  }, []);
  return now;
}

const listeners = new Set<(now: Date) => void>();
let timer: ReturnType<typeof setInterval> | undefined;

function tick() {
  const now = new Date();
  for (const listener of listeners) listener(now);
}
