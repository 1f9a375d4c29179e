import type { SubscriptionId } from "../domain/ids.ts";
export interface DueOptions {
  /** Subscriptions with something due, in order of id, beginning behind `after`; and how far it came (null: to the end). */
  listDue: (page: {
    after: string | null;
    limit: number;
  }) => Promise<{ due: string[]; upTo: string | null }>;
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
  /** Whether each was added since it was last asked for. */
  readonly #ids = new Map<string, boolean>();
  #lookedAtMs = -Infinity;
  #lookedUpTo: string | null = null;
  #pauseMs = 0;

  constructor(options: DueOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#ids.size;
  }

  has(subscriptionId: SubscriptionId): boolean {
    return this.#ids.has(subscriptionId);
  }

  [Symbol.iterator](): Iterator<string> {
    return this.#ids.keys();
  }

  add(subscriptionIds: SubscriptionId[]): void {
    for (const id of subscriptionIds) {
      if (this.#ids.size < DUE_MAX || this.#ids.has(id)) this.#ids.set(id, true);
    }
  }

  /** They are about to be claimed from. They keep their places until that has come to them. */
  ask(subscriptionIds: SubscriptionId[]): void {
    for (const id of subscriptionIds) this.#ids.set(id, false);
  }

  /** It was claimed from: it is forgotten, or goes to the end if it may have more, or something new, due. */
  settle(subscriptionId: SubscriptionId, mayHaveMore: boolean): void {
    const wasAdded = this.#ids.get(subscriptionId) === true;
    this.#ids.delete(subscriptionId);
    if (mayHaveMore || wasAdded) this.#ids.set(subscriptionId, true);
  }

  /**
   * Finds what became due by itself or was accepted elsewhere, and answers whether that is anything. A slow look makes
   * the next one wait longer.
   */
  async look(freeHands: number): Promise<boolean> {
    const { listDue, pollIntervalMs } = this.#options;
    const began = performance.now();
    if (began < this.#lookedAtMs + this.#pauseFor(freeHands)) return false;

    this.#lookedAtMs = began;
    this.#pauseMs = pollIntervalMs;
    const { due, upTo } = await listDue({ after: this.#lookedUpTo, limit: LOOK_MAX });
    this.add(due);
    this.#lookedUpTo = upTo;

    const tookMs = performance.now() - began;
    const restMs = Math.max(pollIntervalMs, Math.min(10 * tookMs, LOOK_PAUSE_MAX_MS));
    const onwardMs = due.length > 0 ? 0 : 2 * tookMs;
    this.#pauseMs = upTo === null ? restMs : onwardMs;
    return due.length > 0;
  }

  /** Long while there is enough for all hands, and short where the last look left something out. */
  #pauseFor(freeHands: number): number {
    return this.size >= freeHands ? LOOK_PAUSE_MAX_MS : this.#pauseMs;
  }
}
