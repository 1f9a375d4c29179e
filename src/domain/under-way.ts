/**
 * Shares one pending promise between calls with the same key. Results are not cached. If there is a
 * limit and `max` other calls are pending, a new call returns `beyond`.
 */
export class UnderWay<Answer> {
  readonly #ask: (question: string) => Promise<Answer>;
  readonly #limit: { max: number; beyond: Answer } | undefined;
  readonly #answers = new Map<string, Promise<Answer>>();

  constructor(ask: (question: string) => Promise<Answer>, limit?: { max: number; beyond: Answer }) {
    this.#ask = ask;
    this.#limit = limit;
  }

  get size(): number {
    return this.#answers.size;
  }

  has(question: string): boolean {
    return this.#answers.has(question);
  }

  ask(question: string): Promise<Answer> {
    const shared = this.#answers.get(question);
    if (shared !== undefined) return shared;
    if (this.#limit !== undefined && this.#answers.size >= this.#limit.max) {
      return Promise.resolve(this.#limit.beyond);
    }
    const answer = this.#ask(question).finally(() => this.#answers.delete(question));
    this.#answers.set(question, answer);
    return answer;
  }
}
