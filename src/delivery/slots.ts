import type { Share, Wanted } from "../actions/claims.ts";
import type { SubscriptionId } from "../domain/ids.ts";

/** Slots that a subscription gets together where it has that much due: attempts at one host share its look-up. */
const SHARE_MAX = 16;

/** Attempts that begin together, at most. More would wait for each other, and then for one record. */
const BURST_MAX = 64;

/**
 * Counts the attempts under way, in all and for each subscription, and so how many more may begin.
 *
 * The bounds are kept here, before the claim: a receiver that hangs holds its own share and nobody else's.
 */
export class Slots {
  readonly #total: number;
  readonly #perSubscription: number;
  readonly #busy = new Map<string, number>();
  #allBusy = 0;
  #reserved = 0;

  constructor(total: number, perSubscription: number) {
    this.#total = total;
    this.#perSubscription = perSubscription;
  }

  get free(): number {
    return this.#total - this.#allBusy - this.#reserved;
  }

  /** Free slots beyond half of all: that half is left to deliveries that wait. */
  get spare(): number {
    return Math.max(0, Math.min(Math.floor(this.free - this.#total / 2), BURST_MAX));
  }

  get busy(): number {
    return this.#allBusy;
  }

  /** The subscriptions that have no slot left. */
  get saturated(): string[] {
    return [...this.#busy].filter(([, busy]) => busy >= this.#perSubscription).map(([id]) => id);
  }

  /** Sets slots aside. Returns what ends that. */
  reserve(count: number): () => void {
    this.#reserved += count;
    return () => {
      this.#reserved -= count;
    };
  }

  take(subscriptionId: SubscriptionId): void {
    this.#allBusy++;
    this.#busy.set(subscriptionId, this.#busyFor(subscriptionId) + 1);
  }

  give(subscriptionId: SubscriptionId): void {
    this.#allBusy--;
    const left = this.#busyFor(subscriptionId) - 1;
    if (left > 0) this.#busy.set(subscriptionId, left);
    else this.#busy.delete(subscriptionId);
  }

  /**
   * What the free slots can take of subscriptions that have not reached their bound: up to 16 of each, or more where there
   * are few subscriptions. Further ones are named in case the first ones have less due than their shares.
   */
  share(subscriptionIds: Iterable<string>): Wanted {
    const limit = Math.min(this.free, BURST_MAX);
    const open: Share[] = [];
    for (const subscription_id of subscriptionIds) {
      if (open.length >= limit) break;
      const share = this.#perSubscription - this.#busyFor(subscription_id);
      if (share > 0) open.push({ subscription_id, share });
    }
    const most = Math.max(SHARE_MAX, Math.floor(limit / open.length));
    for (const one of open) one.share = Math.min(one.share, most);
    return { shares: open, limit };
  }

  #busyFor(subscriptionId: SubscriptionId): number {
    return this.#busy.get(subscriptionId) ?? 0;
  }
}
