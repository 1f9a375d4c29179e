import { setTimeout as sleep } from "node:timers/promises";

/**
 * The opened parts, each with its close function. They are closed in reverse order, so that each part closes before those that
 * it needs. This happens at a stop, and if the start fails.
 */
export class Opened {
  readonly #closers: (() => unknown)[] = [];

  /** Adds the close function of a part that was just opened. */
  add(close: () => unknown): void {
    this.#closers.push(close);
  }

  /** Closes everything once, even if parts fail to close. Then throws an error that names every fault. */
  async close(): Promise<void> {
    const errors: unknown[] = [];
    for (const close of this.#closers.splice(0).reverse()) {
      try {
        await close();
      } catch (error) {
        errors.push(error);
      }
    }
    const [first, ...others] = errors;
    if (others.length > 0) throw new Error(errors.map(String).join("; "), { cause: first });
    if (errors.length > 0) throw first;
  }
}

/**
 * Calls `work` every `ms`. Calls never overlap: a slow one delays the next. Returns how to stop, which resolves when the
 * current call has ended.
 */
export function repeat(
  ms: number,
  work: () => Promise<void>,
  onError: (error: unknown) => void,
): () => Promise<void> {
  let running: Promise<void> | undefined;
  const timer = setInterval(() => {
    running ??= work()
      .catch(onError)
      .finally(() => (running = undefined));
  }, ms).unref();
  return async () => {
    clearInterval(timer);
    await running;
  };
}

/** Throws if `work` takes longer than `ms`. Its later result is ignored. */
export async function within<Result>(ms: number, work: Promise<Result>): Promise<Result> {
  const timer = new AbortController();
  const late = sleep(ms, undefined, { signal: timer.signal }).then(() => {
    throw new Error(`no answer within ${ms} ms`);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    timer.abort();
  }
}
