/** The limit of each signal. Without it, Node.js 20 forgets a limit in `AbortSignal.any` at the next garbage collection. */
const limits = new WeakMap<AbortSignal, AbortSignal>();

/** Returns a signal that aborts as `signal` does, and with a `TimeoutError` after `ms`. */
export function withTimeLimit(ms: number, signal: AbortSignal): AbortSignal {
  const limit = AbortSignal.timeout(ms);
  const limited = AbortSignal.any([signal, limit]);
  limits.set(limited, limit);
  return limited;
}
