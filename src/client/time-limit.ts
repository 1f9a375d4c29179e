const MS_MAX = 2 ** 31 - 1; // What timers can count to.

/**
 * Makes the one function that rejects with a `TimeoutError` what takes longer than `ms`, and tells it by a signal to end. It
 * does not wait for that: a `fetch` need not heed the signal, or may have lost it to the garbage collector on the way.
 */
export function timeLimit(ms: number) {
  if (!(ms >= 1 && ms <= MS_MAX)) throw new RangeError(`timeoutMs must be from 1 to ${MS_MAX}`);

  return async <Result>(call: (signal: AbortSignal) => Promise<Result>): Promise<Result> => {
    const limit = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const passed = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        const why = new DOMException(`no whole answer within ${ms} ms`, "TimeoutError");
        reject(why);
        limit.abort(why);
      }, ms);
    });
    try {
      return await Promise.race([call(limit.signal), passed]);
    } finally {
      clearTimeout(timer);
    }
  };
}
