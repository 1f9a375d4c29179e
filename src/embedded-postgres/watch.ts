import { setTimeout as sleep } from "node:timers/promises";

const INTERVAL_MS = 250;
const AFTER_FAILURE_MS = 1_000;

export interface WatchOptions {
  /** Whether what is watched lives and means to go on. Asked often, so it must be cheap. When it cannot tell, it fails. */
  isServing: () => boolean | Promise<boolean>;
  restart: (signal: AbortSignal) => Promise<void>;
  log: (message: string) => void;
}

/**
 * Restarts something whenever it is found not to serve, and tries for as long as it takes. Keeps no
 * process alive. Returns what ends it: once that resolves, no restart is under way.
 */
export function watch({ isServing, restart, log }: WatchOptions): () => Promise<void> {
  const ending = new AbortController();
  const { signal } = ending;
  let reported = "";
  const watching = go();

  return async () => {
    ending.abort();
    await watching;
  };

  async function go(): Promise<void> {
    while (!signal.aborted) await pause((await look()) ? INTERVAL_MS : AFTER_FAILURE_MS);
  }

  async function look(): Promise<boolean> {
    try {
      if (!(await isServing())) await restart(signal);
      reported = "";
      return true;
    } catch (error) {
      report(error);
      return false;
    }
  }

  function report(error: unknown): void {
    if (signal.aborted) return;
    const message = error instanceof Error ? error.message : String(error);
    const cause = message.replaceAll(/\d+/g, ""); // Without the process's number, say.
    if (cause !== reported) log(message); // Once, not every second.
    reported = cause;
  }

  async function pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { ref: false, signal }).catch(() => undefined);
  }
}
