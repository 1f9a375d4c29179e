import { useEffect, useState } from "preact/hooks";
import { call, ROOT } from "./call.ts";
import { Problem } from "./problem.ts";

const RECONNECT_MS = 3_000;

/** The last event of a stream, and whether the stream is open now. */
export interface Live<T> {
  data: T | null;
  isLive: boolean;
  error: Problem | null;
}

const HELLO = "hello";

/**
 * Follows a stream of server-sent events, and reads `fallback` once while the stream cannot be opened. One visible tab opens the
 * stream and passes its events to the others: a browser opens six connections to a host for all its tabs together, and a seventh
 * stream would stop every request.
 */
export function useLive<T>(path: string, event: string, fallback: string): Live<T> {
  const [live, setLive] = useState<Live<T>>({ data: null, isLive: false, error: null });

  useEffect(() => {
    const url = ROOT + path;
    const tabs = new BroadcastChannel(url);
    let source: EventSource | undefined;
    let timer: number | undefined;
    let last: T | undefined;
    let turn: AbortController | undefined;
    let ended = false;

    const show = (data: T) => {
      last = data;
      setLive({ data, isLive: true, error: null });
    };
    tabs.onmessage = ({ data }: MessageEvent<T | typeof HELLO>) => {
      if (data !== HELLO) show(data);
      else if (source !== undefined && last !== undefined) tabs.postMessage(last);
    };

    const open = () => {
      source = new EventSource(url);
      source.addEventListener(event, ({ data }: MessageEvent<string>) => {
        show(JSON.parse(data) as T);
        tabs.postMessage(last);
      });
      source.addEventListener("error", () => {
        source?.close();
        void explain();
        timer = window.setTimeout(open, RECONNECT_MS);
      });
    };

    /** A stream does not tell why it ended, but a request does. */
    const explain = async () => {
      try {
        const data = await call<T>("GET", fallback);
        if (!ended) setLive({ data, isLive: false, error: null });
      } catch (error) {
        if (ended || !(error instanceof Problem)) return;
        setLive((last) => ({ ...last, isLive: false, error }));
      }
    };

    const close = () => {
      turn?.abort();
      source?.close();
      source = undefined;
      window.clearTimeout(timer);
    };

    /** Takes its turn while the tab is visible. */
    const follow = () => {
      close();
      if (document.hidden) return;
      turn = new AbortController();
      tabs.postMessage(HELLO);
      void inTurn(url, turn.signal, open);
    };

    document.addEventListener("visibilitychange", follow);
    follow();
    return () => {
      ended = true;
      document.removeEventListener("visibilitychange", follow);
      close();
      tabs.close();
    };
  }, [path, event, fallback]);

  return live;
}

/** Begins the work once no other tab of this origin does it, and ends with the signal. Without locks, as over plain HTTP, at once. */
async function inTurn(name: string, signal: AbortSignal, begin: () => void): Promise<void> {
  const work = () => {
    if (signal.aborted) return;
    begin();
    return new Promise<void>((end) => signal.addEventListener("abort", () => end()));
  };
  if (!("locks" in navigator)) return void work();
  await navigator.locks.request(name, { signal }, work).catch(() => undefined); // It gave up its turn.
}
