/**
 * Calls `work` every `ms`. Calls never overlap: a slow one delays the next. Returns how to stop, which resolves when the
 * current call has ended.
 */
export function repeat(
  ms: number,
  work: () => Promise<void>,
  onError: (error: unknown) => void,
): () => Promise<void> {
  let turn: Promise<void> | undefined;
  const timer = setInterval(() => {
    turn ??= work()
      .catch(onError)
      .finally(() => (turn = undefined));
  }, ms).unref();
  return async () => {
    clearInterval(timer);
    await turn;
  };
}
