/**
 * Does `work` every `ms`, and never twice at once: a turn that takes longer delays the next. Returns how to stop, which
 * resolves once the turn under way is over.
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
