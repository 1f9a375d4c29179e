import { setTimeout as sleep } from "node:timers/promises";

const INTERVAL_MS = 250;
const AFTER_FAILURE_MS = 1_000;

interface Watched {
  /** Returns true if the server runs and does not stop. Called often, so it must be cheap. Throws if it cannot tell. */
  isServing: () => boolean | Promise<boolean>;
  restart: (signal: AbortSignal) => Promise<void>;
  log: (message: string) => void;
}

/**
 * Restarts the server when it does not serve, and repeats until that succeeds. Does not keep the process alive. Returns a function
 * that ends the watch. When it resolves, no restart is in progress.
 */
export function watch({ isServing, restart, log }: Watched): () => Promise<void> {
  const ending = new AbortController();
  const { signal } = ending;
  let reported = "";
  const watching = go();

  return async () => {
    ending.abort();
    await watching;
  };

  async function go(): Promise<void> {
    while (!signal.aborted) {
      const ms = (await look()) ? INTERVAL_MS : AFTER_FAILURE_MS;
      await sleep(ms, undefined, { ref: false, signal }).catch(() => undefined);
    }
  }

  async function look(): Promise<boolean> {
    try {
      if (!(await isServing())) await restart(signal);
      reported = "";
      return true;
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      const cause = message.replaceAll(/\d+/g, ""); // Without process ids.
      if (!signal.aborted && cause !== reported) log(message); // Logged once, not every second.
      reported = cause;
      return false;
    }
  }
}
