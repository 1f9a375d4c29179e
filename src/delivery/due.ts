export interface DueOptions {
  /** Subscriptions with something due, in order of id, beginning behind `after`. */
  listDue: (page: { after: string | null; limit: number }) => Promise<string[]>;
  pollIntervalMs: number;
}

/** Subscriptions that one look brings to mind. The next look goes on behind them. */
const LOOK_MAX = 1_000;
const LOOK_PAUSE_MAX_MS = 1_000;
/** Subscriptions that are kept in mind. What is forgotten beyond that, a later look finds again. */
const DUE_MAX = 10_000;

/** The subscriptions that may have something due, as far as we know: the longest waiting first. */
export class Due {
  readonly #options: DueOptions;
  readonly #ids = new Set<string>();
  #lookedUpTo: string | null = null;
  #nextLookMs = 0;

  constructor(options: DueOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#ids.size;
  }

  has(subscriptionId: string): boolean {
    return this.#ids.has(subscriptionId);
  }

  [Symbol.iterator](): Iterator<string> {
    return this.#ids[Symbol.iterator]();
  }

  add(subscriptionIds: string[]): void {
    for (const id of subscriptionIds) if (this.#ids.size < DUE_MAX) this.#ids.add(id);
  }

  delete(subscriptionId: string): void {
    this.#ids.delete(subscriptionId);
  }

  /**
   * Finds what became due by itself or was accepted elsewhere. A slow look makes the next one wait longer; one that
   * left something out is followed by the next as soon as hands would go idle.
   */
  async look(freeHands: number): Promise<void> {
    const { listDue, pollIntervalMs } = this.#options;
    const began = performance.now();
    const goesOn = this.#lookedUpTo !== null && this.size < freeHands;
    if (began < this.#nextLookMs && !goesOn) return;

    this.#nextLookMs = began + pollIntervalMs;
    const found = await listDue({ after: this.#lookedUpTo, limit: LOOK_MAX });
    this.add(found);
    this.#lookedUpTo = found.length < LOOK_MAX ? null : (found.at(-1) ?? null);

    const pauseMs = Math.min(10 * (performance.now() - began), LOOK_PAUSE_MAX_MS);
    this.#nextLookMs = began + Math.max(pollIntervalMs, pauseMs);
  }
}
