/** Results are reused for this time, so that requests cannot load the database. */
const ANSWER_LIFE_MS = 1_000;

/** Returns a function that reuses one result. Its lifetime starts with the call of `ask`. */
export function kept<Answer>(
  ask: () => Promise<Answer>,
  nowMs: () => number = () => performance.now(),
): () => Promise<Answer> {
  let last: { at: number; answer: Promise<Answer> } | undefined;
  return () => {
    const now = nowMs();
    if (!last || now - last.at > ANSWER_LIFE_MS) last = { at: now, answer: ask() };
    return last.answer;
  };
}
