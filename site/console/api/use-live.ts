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

/** Follows a stream of server-sent events, and reads `fallback` once while the stream cannot be opened. */
export function useLive<T>(path: string, event: string, fallback: string): Live<T> {
  const [live, setLive] = useState<Live<T>>({ data: null, isLive: false, error: null });

  useEffect(() => {
    let source: EventSource | undefined;
    let timer: number | undefined;
    let ended = false;

    const open = () => {
      source = new EventSource(ROOT + path);
      source.addEventListener(event, ({ data }: MessageEvent<string>) =>
        setLive({ data: JSON.parse(data) as T, isLive: true, error: null }),
      );
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

    open();
    return () => {
      ended = true;
      source?.close();
      window.clearTimeout(timer);
    };
  }, [path, event, fallback]);

  return live;
}
