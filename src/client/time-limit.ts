const MS_MAX = 2 ** 31 - 1; // The longest delay of a timer.

/**
 * Returns a function that runs a call, and after `ms` aborts it and rejects with a `TimeoutError`.
 * It does not wait for the call to end: `fetch` may ignore the signal, or lose it to garbage
 * collection.
 */
export function timeLimit(ms: number) {
  if (!(ms >= 1 && ms <= MS_MAX)) throw new RangeError(`timeoutMs must be from 1 to ${MS_MAX}`);

  return async <Result>(call: (signal: AbortSignal) => Promise<Result>): Promise<Result> => {
    const limit = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const passed = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        const why = new DOMException(`no complete response within ${ms} ms`, "TimeoutError");
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
