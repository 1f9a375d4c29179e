/**
 * Shares one pending promise between calls with the same key. Results are not cached. If there is a
 * limit and `max` other calls are pending, a new call returns `beyond`. With `sharing`, a promise is
 * shared only by calls that come at most `forMs` after it was asked for.
 */
export class SingleFlight<Answer> {
  readonly #ask: (question: string) => Promise<Answer>;
  readonly #limit: { max: number; beyond: Answer } | undefined;
  readonly #sharing: { forMs: number; nowMs: () => number };
  readonly #latest = new Map<string, { askedMs: number; answer: Promise<Answer> }>();
  #size = 0;

  constructor(
    ask: (question: string) => Promise<Answer>,
    limit?: { max: number; beyond: Answer },
    sharing = { forMs: Infinity, nowMs: () => 0 },
  ) {
    this.#ask = ask;
    this.#limit = limit;
    this.#sharing = sharing;
  }

  get size(): number {
    return this.#size;
  }

  has(question: string): boolean {
    return this.#latest.has(question);
  }

  ask(question: string): Promise<Answer> {
    const { forMs, nowMs } = this.#sharing;
    const shared = this.#latest.get(question);
    const now = nowMs();
    if (shared !== undefined && now - shared.askedMs <= forMs) return shared.answer;
    if (this.#limit !== undefined && this.#size >= this.#limit.max) {
      return Promise.resolve(this.#limit.beyond);
    }
    this.#size++;
    const answer = this.#ask(question).finally(() => {
      this.#size--;
      if (this.#latest.get(question)?.answer === answer) this.#latest.delete(question);
    });
    this.#latest.set(question, { askedMs: now, answer });
    return answer;
  }
}
