import type { Share, Wanted } from "../actions/claims.ts";

/** Hands that a subscription gets together where it has that much due: attempts at one name share its look-up. */
const HANDFUL = 16;

/** Attempts that begin together at the most. More would wait for each other, and then for one record. */
const BURST_MAX = 64;

/**
 * How many attempts are under way, in all and for each subscription, and so how many more may begin.
 *
 * The bounds are kept here, before the claim: a receiver that hangs holds its own share and nobody else's.
 */
export class Hands {
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

  get busy(): number {
    return this.#allBusy;
  }

  /** Sets so many free hands aside for the claim under way, in place of any that were set aside before. */
  reserve(count: number): void {
    this.#reserved = count;
  }

  take(subscriptionId: string): void {
    this.#allBusy++;
    this.#busy.set(subscriptionId, this.#busyFor(subscriptionId) + 1);
  }

  /**
   * Takes one for what is only now accepted, if many are free: half of them are left to what waits already. Answers
   * whether it did.
   */
  takeSpare(subscriptionId: string): boolean {
    const isSpare =
      this.free > this.#total / 2 && this.#busyFor(subscriptionId) < this.#perSubscription;
    if (isSpare) this.take(subscriptionId);
    return isSpare;
  }

  give(subscriptionId: string): void {
    this.#allBusy--;
    const left = this.#busyFor(subscriptionId) - 1;
    if (left > 0) this.#busy.set(subscriptionId, left);
    else this.#busy.delete(subscriptionId);
  }

  /**
   * What the free hands can take of subscriptions that have not reached their bound: a handful of each, or more where
   * there are few. Others stand by, in case that those before them have less due.
   */
  share(subscriptionIds: Iterable<string>): Wanted {
    const limit = Math.min(this.free, BURST_MAX);
    const open: Share[] = [];
    for (const subscription_id of subscriptionIds) {
      if (open.length >= limit) break;
      const share = this.#perSubscription - this.#busyFor(subscription_id);
      if (share > 0) open.push({ subscription_id, share });
    }
    const handful = Math.max(HANDFUL, Math.floor(limit / open.length));
    for (const one of open) one.share = Math.min(one.share, handful);
    return { shares: open, limit };
  }

  #busyFor(subscriptionId: string): number {
    return this.#busy.get(subscriptionId) ?? 0;
  }
}
