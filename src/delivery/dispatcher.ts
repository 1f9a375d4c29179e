import type { Loan } from "../actions/accept.ts";
import type { Claim, Wanted } from "../actions/claims.ts";
import { LinkedList } from "../domain/linked-list.ts";
import type { Attempted } from "./deliver.ts";
import { Doorbell } from "./doorbell.ts";
import { Due, type DueOptions } from "./due.ts";
import { Hands } from "./hands.ts";

export interface DispatcherOptions extends DueOptions {
  /** Leases due deliveries to us, as many as are wanted. */
  claim: (wanted: Wanted) => Promise<Claim[]>;
  /** Makes one attempt, and has what came of it recorded. */
  deliver: (claim: Claim) => Promise<Attempted>;
  concurrency: number;
  subscriptionConcurrency: number;
  onError: (error: unknown) => void;
}

/** Claims for each hand whose outcome may still have to be recorded: a slow database slows us down. */
const OPEN_PER_HAND = 2;

/**
 * Keeps attempts going while deliveries are due.
 *
 * Polling alone makes it correct. `nudge` only makes it prompt, so losing one costs a delay of
 * `pollIntervalMs` and never a delivery.
 */
export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #hands: Hands;
  /** Claims whose outcome is not recorded yet, and accepts that hands are lent to. */
  readonly #open = new LinkedList<Promise<void>>();
  readonly #bell = new Doorbell();
  readonly #due: Due;
  #running: Promise<void> | undefined;
  #looking: Promise<void> | undefined;
  #stopping = false;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    this.#hands = new Hands(options.concurrency, options.subscriptionConcurrency);
    this.#due = new Due(options);
  }

  /** Attempts under way now. */
  get underWay(): number {
    return this.#hands.busy;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  nudge(subscriptionIds: string[]): void {
    this.#due.add(subscriptionIds);
    this.#bell.ring();
  }

  /**
   * Lends free hands to deliveries that are being accepted. A subscription that has something due gets none: that goes
   * first. Stopping waits for the loan to be settled.
   */
  lend(subscriptionIds: string[]): Loan {
    const lent = subscriptionIds.map((id) => this.#canLend(id) && this.#hands.takeSpare(id));
    let end: () => void = () => undefined;
    const link = this.#open.append(new Promise<void>((resolve) => (end = resolve)));
    // In one step: between the two, a claim would find hands free that are not.
    const settle = (claims: Claim[]) => {
      for (const [index, id] of subscriptionIds.entries()) if (lent[index]) this.#hands.give(id);
      for (const claim of claims) this.#begin(claim);
      this.#open.remove(link);
      this.#ringForMore();
      end();
    };
    return { lent, settle };
  }

  #canLend(subscriptionId: string): boolean {
    return (
      this.#running !== undefined &&
      !this.#stopping &&
      this.#hasRoom &&
      !this.#due.has(subscriptionId)
    );
  }

  /** Whether outcomes are recorded fast enough for more attempts to begin. */
  get #hasRoom(): boolean {
    return this.#open.size < OPEN_PER_HAND * this.#options.concurrency;
  }

  /** Claims nothing more and resolves once every attempt under way is over. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#bell.ring();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#stopping) {
      this.#look();
      try {
        await this.#fillFreeHands();
      } catch (error) {
        this.#options.onError(error); // The database is away: the next poll tries again.
      }
      await this.#bell.wait(this.#options.pollIntervalMs);
    }
    while (this.#open.size > 0) await Promise.allSettled(this.#open);
    await this.#looking;
  }

  /** Beside the claims: what is in mind already does not wait for a look. */
  #look(): void {
    this.#looking ??= this.#due
      .look(this.#hands.free)
      .then((hasFound) => {
        if (hasFound) this.#bell.ring();
      }, this.#options.onError)
      .finally(() => (this.#looking = undefined));
  }

  async #fillFreeHands(): Promise<void> {
    if (!this.#hasRoom) return;
    const wanted = this.#hands.share(this.#due);
    if (wanted.shares.length === 0) return;

    this.#hands.reserve(wanted.limit);
    try {
      await this.#claim(wanted);
    } finally {
      this.#hands.reserve(0);
    }
    this.#bell.ring();
  }

  async #claim(wanted: Wanted): Promise<void> {
    this.#due.ask(wanted.shares.map((s) => s.subscription_id));
    const claims = await this.#options.claim(wanted);
    for (const claim of claims) this.#begin(claim);
    for (const { id, mayHaveMore } of served(wanted, claims)) this.#due.settle(id, mayHaveMore);
  }

  #begin(claim: Claim): void {
    this.#hands.take(claim.subscription_id);
    const work = this.#deliver(claim)
      .catch(this.#options.onError) // Not recorded: the lease runs out and it is tried again.
      .finally(() => {
        this.#open.remove(link);
        this.#ringForMore();
      });
    const link = this.#open.append(work);
  }

  /** A hand is free again once the attempt is over: what it came to is recorded together with others. */
  async #deliver(claim: Claim): Promise<void> {
    let attempted: Attempted;
    try {
      attempted = await this.#options.deliver(claim);
    } finally {
      this.#hands.give(claim.subscription_id);
      this.#ringForMore();
    }
    await attempted.recorded;
  }

  #ringForMore(): void {
    if (this.#due.size > 0 || this.#stopping) this.#bell.ring();
  }
}

/** The subscriptions that a claim came to, and whether they may have more due than it took. */
function served({ shares, limit }: Wanted, claims: Claim[]) {
  const claimed = new Map<string, number>();
  for (const { subscription_id: id } of claims) claimed.set(id, (claimed.get(id) ?? 0) + 1);

  const isCutShort = claims.length >= limit;
  const last = isCutShort
    ? shares.findLastIndex(({ subscription_id }) => claimed.has(subscription_id))
    : shares.length - 1;
  return shares.slice(0, last + 1).map(({ subscription_id: id, share }, index) => ({
    id,
    mayHaveMore: claimed.get(id) === share || (isCutShort && index === last),
  }));
}
