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

/** Returns a function that asks again but returns the last result at once, if that `mayServe`. For results that may take long. */
export function servedAtOnce<Answer>(
  ask: () => Promise<Answer>,
  mayServe: (last: Answer) => boolean,
): () => Promise<Answer> {
  let last: Answer | undefined;
  return () => {
    const asked = ask().then((answer) => (last = answer));
    if (last === undefined || !mayServe(last)) return asked;
    asked.catch(() => undefined); // The next call asks again.
    return Promise.resolve(last);
  };
}
