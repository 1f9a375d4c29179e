import { useCallback, useEffect, useState } from "preact/hooks";
import { call } from "./call.ts";
import { Problem } from "./problem.ts";
import { whenVisible } from "./when-visible.ts";

const RETRY_MS = 5_000;

/** The state of a request: its data, its error, and when the data is from. After an error `data` is the last answer, as of `at`. */
export interface Query<T> {
  data: T | null;
  error: Problem | null;
  at: Date | null;
  reload: () => void;
}

interface Known<T> {
  path: string | null;
  data: T | null;
  error: Problem | null;
  at: Date | null;
}

/**
 * Reads a path of the operator API, again every `refreshMs`, and again soon while the service is away. A tab that nobody sees
 * reads nothing.
 */
export function useQuery<T>(path: string | null, refreshMs?: number): Query<T> {
  const [known, setKnown] = useState<Known<T>>({ path, data: null, error: null, at: null });
  const [turn, setTurn] = useState(0);
  const reload = useCallback(() => setTurn((before) => before + 1), []);

  useEffect(() => {
    if (path === null) return;
    const stop = new AbortController();
    let timer: number | undefined;
    let forget: () => void = () => undefined;
    const again = (ms: number | undefined) => {
      if (ms === undefined) return;
      timer = window.setTimeout(() => {
        forget = whenVisible(ask);
      }, ms);
    };
    const ask = () => {
      call<T>("GET", path, undefined, stop.signal).then(
        (data) => {
          setKnown({ path, data, error: null, at: new Date() });
          again(refreshMs);
        },
        (error: unknown) => {
          if (stop.signal.aborted || !(error instanceof Problem)) return;
          setKnown((last) => (last.path === path ? { ...last, error } : { ...EMPTY, path, error }));
          again(error.isTemporary ? RETRY_MS : refreshMs);
        },
      );
    };
    forget = whenVisible(ask);
    return () => {
      stop.abort();
      forget();
      window.clearTimeout(timer);
    };
  }, [path, turn, refreshMs]);

  // Data of another path is not shown here.
  const current = known.path === path ? known : EMPTY;
  return { data: current.data, error: current.error, at: current.at, reload };
}

const EMPTY = { path: null, data: null, error: null, at: null };
