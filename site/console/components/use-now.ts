import { useEffect, useState } from "preact/hooks";

const TICK_MS = 5_000;

/** The time, again every few seconds. One timer serves every time on the page. What was read since its last tick is not in the future. */
export function useNow(): Date {
  const [, setNow] = useState<Date>();
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
  return new Date();
}

const listeners = new Set<(now: Date) => void>();
let timer: ReturnType<typeof setInterval> | undefined;

function tick() {
  const now = new Date();
  for (const listener of listeners) listener(now);
}
