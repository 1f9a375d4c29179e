import { setTimeout as sleep } from "node:timers/promises";

const INTERVAL_MS = 250;
const AFTER_FAILURE_MS = 1_000;

export interface WatchOptions {
  /** Whether the server lives and means to go on. Asked often, so it must be cheap. */
  isServing: () => boolean;
  restart: (signal: AbortSignal) => Promise<void>;
  log: (message: string) => void;
}

/**
 * Restarts the server whenever it is found not to serve, and tries for as long as it takes. Keeps no
 * process alive. Returns what ends it: once that resolves, no restart is under way.
 */
export function watch({ isServing, restart, log }: WatchOptions): () => Promise<void> {
  const ending = new AbortController();
  let restarting: Promise<void> | null = null;
  let reported = "";

  const timer = setInterval(() => {
    if (restarting || isServing()) return;
    restarting = revive().finally(() => (restarting = null));
  }, INTERVAL_MS).unref();

  return async () => {
    clearInterval(timer);
    ending.abort();
    await restarting;
  };

  async function revive(): Promise<void> {
    try {
      await restart(ending.signal);
      reported = "";
    } catch (error) {
      if (ending.signal.aborted) return;
      const message = error instanceof Error ? error.message : String(error);
      const cause = message.replaceAll(/\d+/g, ""); // Without the process's number, say.
      if (cause !== reported) log(message); // Once, not every second.
      reported = cause;
      await pause();
    }
  }

  async function pause(): Promise<void> {
    const options = { ref: false, signal: ending.signal };
    await sleep(AFTER_FAILURE_MS, undefined, options).catch(() => undefined);
  }
}
