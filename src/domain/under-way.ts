/** Lets all who ask for the same share one answer, as long as it is under way. Nothing is remembered. */
export function sharedWhileUnderWay<Answer>(
  ask: (question: string) => Promise<Answer>,
): (question: string) => Promise<Answer> {
  const underWay = new Map<string, Promise<Answer>>();
  return (question) => {
    const shared = underWay.get(question);
    if (shared !== undefined) return shared;

    const answer = ask(question).finally(() => underWay.delete(question));
    underWay.set(question, answer);
    return answer;
  };
}
