/** An answer serves this long, so that requests cannot load the database. */
const ANSWER_LIFE_MS = 1_000;

/** Gives one answer to all who ask within its life, which begins with the question. */
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
