/**
 * Lets all who ask for the same share one answer, as long as it is under way. Nothing is remembered. Where there is a limit,
 * and `max` others are under way already, the answer is `beyond`.
 */
export function sharedWhileUnderWay<Answer>(
  ask: (question: string) => Promise<Answer>,
  limit?: { max: number; beyond: Answer },
): (question: string) => Promise<Answer> {
  const underWay = new Map<string, Promise<Answer>>();
  return (question) => {
    const shared = underWay.get(question);
    if (shared !== undefined) return shared;
    if (limit !== undefined && underWay.size >= limit.max) return Promise.resolve(limit.beyond);

    const answer = ask(question).finally(() => underWay.delete(question));
    underWay.set(question, answer);
    return answer;
  };
}
