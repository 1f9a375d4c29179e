/** Every resolver takes this many look-ups at once. */
const FEW = 32;
/** For how long a resolver may go on with questions that we have given up. */
const LATE_MS = 30_000;

/**
 * Counts the look-ups that a resolver has in progress. Names with silent servers may be too many for a small one. That must not look
 * like a dead resolver, because partners choose the names.
 */
export class ResolverLoad {
  readonly #nowMs: () => number;
  #pending = 0;
  #manyMs = -Infinity;
  #hasFailed = false;

  /** `nowMs`: a monotonic clock. */
  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  /** True after a failed probe while a few look-ups are in progress, so that the resolver can recover or prove to be dead. */
  get isFull(): boolean {
    return this.#hasFailed && this.#pending >= FEW;
  }

  async during<Result>(lookUp: Promise<Result>): Promise<Result> {
    if (++this.#pending > FEW) this.#manyMs = this.#nowMs();
    return lookUp.finally(() => {
      if (this.#pending-- > FEW) this.#manyMs = this.#nowMs();
    });
  }

  /** Takes the result of a probe. */
  note(isAnswered: boolean): "answers" | "crowded" | "dead" {
    this.#hasFailed = !isAnswered;
    if (isAnswered) return "answers";
    return this.#nowMs() - this.#manyMs < LATE_MS ? "crowded" : "dead";
  }
}
