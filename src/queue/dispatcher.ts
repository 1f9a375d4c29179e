import type { OrganizationId, SubscriptionId } from "../lib/ids.ts";
import { LinkedList } from "../lib/linked-list.ts";
import type { Taken, Wanted } from "../subjects/deliveries/claims.ts";
import type { Claim } from "../subjects/deliveries/rules.ts";
import { NO_SLOTS, type Reservation } from "../subjects/events/publication.ts";
import type { createDeliverer } from "./deliver.ts";
import { Due, type DueOptions } from "./due.ts";
import type { DueSubscription } from "./rules.ts";
import { served } from "./served.ts";
import { Slots } from "./slots.ts";

/** The organizations and failing hosts that hold slots. */
export type Holders = Slots["holders"];

export interface DispatcherOptions extends DueOptions {
  /** Throws while the database is unavailable. Called before slots are reserved for a claim. `hasFailed`: the last claim has. */
  requireDatabase?: (hasFailed: boolean) => Promise<void>;
  /** Leases due deliveries to this process, as many as are wanted. */
  claim: (wanted: Wanted) => Promise<Taken>;
  /** Makes one attempt and starts to record its outcome. */
  deliver: ReturnType<typeof createDeliverer>;
  /** Postpones a claimed delivery for a second without an attempt. */
  defer: (claim: Claim) => Promise<void>;
  /** Called when deliveries wait and only the last tenth of the slots is free. */
  onContended: (dispatcher: Pick<Dispatcher, "holders" | "slowed">) => void;
  concurrency: number;
  subscriptionConcurrency: number;
  /** The slots of the process. Default: slots of its own. */
  slots?: Slots;
  /** The list of due subscriptions, if others nudge it too. Default: a list of its own. */
  due?: Due;
  /** The time that ceilings are measured by, in ms. Default: the system's monotonic clock. */
  elapsedMs?: () => number;
  /** How long an attempt without an answer keeps its slot at least, in ms. */
  unansweredMs?: number;
  /** Returns a number from 0 to 1. Default: `Math.random`. */
  random?: () => number;
  onError: (error: unknown) => void;
}

/** Thousands of attempts that fail at once, for example at receivers that reset connections, would occupy the thread. */
const UNANSWERED_MS = 100;
/**
 * An attempt keeps its slot for up to this part of its time longer. Otherwise attempts that time out together would begin together
 * again, and everybody else would wait for their handshakes.
 */
const SPREAD = 0.1;

/** Claims for each slot, unrecorded outcomes included. So a slow database slows the dispatcher down. */
const OPEN_PER_SLOT = 2;

/** If more subscriptions than this would be excepted, no slot is reserved, because each publication sends their ids. */
const EXCEPT_MAX = 1_000;
/**
 * If as many subscriptions have something due, nudges of other processes count only for organizations below their share of
 * this. If as many organizations have something due, nudges are ignored. Scans find the rest.
 */
const DUE_MAX_TO_ACCEPT = 500;

/**
 * Makes attempts while deliveries are due.
 *
 * Polling is enough for correctness. `nudge` makes it prompt: a lost nudge delays a delivery by up to `pollIntervalMs`.
 */
export class Dispatcher {
  readonly #options: DispatcherOptions & Required<Pick<DispatcherOptions, "elapsedMs">>;
  readonly #slots: Slots;
  /** Claims whose outcome is not recorded yet, and reservations. */
  readonly #open = new LinkedList<Promise<void>>();
  readonly #due: Due;
  #running: Promise<void> | undefined;
  #scanning: Promise<void> | undefined;
  /** True if enough was due for all free slots. */
  #hasEnough = false;
  #hasFailed = false;
  #stopping = false;

  constructor(options: DispatcherOptions) {
    this.#options = { elapsedMs: () => performance.now(), ...options };
    const { concurrency, subscriptionConcurrency } = options;
    this.#slots = options.slots ?? new Slots(concurrency, subscriptionConcurrency);
    this.#due = options.due ?? new Due(options, (id) => this.#slots.isAtLimit(id));
  }

  /** The number of running attempts. */
  get inFlight(): number {
    return this.#slots.busy;
  }

  /** The most attempts at once. */
  get concurrency(): number {
    return this.#options.concurrency;
  }

  /** The organizations and failing hosts that hold slots now. */
  get holders(): Holders {
    return this.#slots.holders;
  }

  /** The subscriptions whose concurrency limit is below the initial one, with their limits. */
  get slowed(): [SubscriptionId, number][] {
    return this.#slots.slowed;
  }

  /** True if due deliveries have to wait for a slot of this process. */
  get isFull(): boolean {
    return this.#stopping || this.#slots.isContended;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** True if nudges of other processes are of use. Any role of the database can send false ones. */
  get acceptsNudges(): boolean {
    return this.#due.organizationCount < DUE_MAX_TO_ACCEPT;
  }

  /** The number of subscriptions that may have something due. */
  get dueCount(): number {
    return this.#due.size;
  }

  nudge(due: DueSubscription[]): void {
    this.#due.nudge(due);
  }

  /** A nudge of another process, which may be false. */
  accept(due: DueSubscription[]): void {
    for (const one of due) {
      if (this.#due.hasRoomWithin(DUE_MAX_TO_ACCEPT, one.organizationId)) this.nudge([one]);
    }
  }

  /**
   * Reserves spare slots for deliveries that are being published for these organizations. Their subscriptions that have something due
   * are excepted, because waiting deliveries go first, and so are organizations that have their share while few slots are free or that the
   * pace limits. `stop` waits for the end of each reservation.
   */
  reserve(organizations: ReadonlySet<OrganizationId>): Reservation {
    if (!this.#canReserve) return NO_SLOTS;
    const { slots, full } = this.#slots.spareFor(organizations);
    if (slots === 0) return NO_SLOTS;
    const own = [...organizations];
    const due = own.flatMap((id) => [...this.#due.of(id)]);
    const saturated = own.flatMap((id) => this.#slots.saturatedOf(id));
    const except = [...due, ...full, ...saturated, ...own.filter((id) => this.#slots.isPaced(id))];
    if (except.length > EXCEPT_MAX) return NO_SLOTS;

    const free = this.#slots.reserve(slots);
    let ended: () => void = () => undefined;
    const link = this.#open.append(new Promise<void>((resolve) => (ended = resolve)));
    const end = (claims: Claim[]) => {
      const isAwaited = this.#slots.areFew || !this.#hasRoom;
      free();
      for (const claim of claims) this.#begin(claim);
      this.#open.remove(link);
      if (isAwaited) this.#wakeIfMore();
      ended();
    };
    return { slots, except, end };
  }

  get #canReserve(): boolean {
    const isRunning = this.#running !== undefined && !this.#stopping;
    return isRunning && this.#hasRoom;
  }

  /** True if outcomes are recorded fast enough to begin more attempts. */
  get #hasRoom(): boolean {
    return this.#open.size < OPEN_PER_SLOT * this.#options.concurrency;
  }

  /** Stops claiming. Resolves when every outcome is recorded. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#due.wakeUp.set();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { elapsedMs, pollIntervalMs } = this.#options;
    while (!this.#stopping) {
      this.#due.resume(elapsedMs());
      this.#scan();
      try {
        await this.#fillFreeSlots();
      } catch (error) {
        this.#options.onError(error); // The database is unavailable. The next poll retries.
      }
      const resumeInMs = this.#due.resumeAtMs - elapsedMs();
      const moreInMs = this.#due.size > 0 ? this.#slots.nextInMs : Infinity;
      await this.#due.wakeUp.wait(Math.min(pollIntervalMs, resumeInMs, moreInMs));
    }
    while (this.#open.size > 0) await Promise.allSettled(this.#open);
    await this.#scanning;
  }

  /** Runs in parallel with claims. */
  #scan(): void {
    this.#scanning ??= this.#due
      .scan(this.#hasEnough)
      .then((hasFound) => {
        if (hasFound) this.#due.wakeUp.set();
      }, this.#options.onError)
      .finally(() => (this.#scanning = undefined));
  }

  async #fillFreeSlots(): Promise<void> {
    if (!this.#hasRoom) return;
    if (this.#due.size > 0) await this.#options.requireDatabase?.(this.#hasFailed);
    const wanted = this.#slots.allot(this.#due);
    this.#hasEnough = wanted.quotas.length >= wanted.limit;
    if (this.#due.size > 0 && this.#slots.isContended) this.#options.onContended(this);
    if (wanted.quotas.length === 0) return;

    const free = this.#slots.reserve(wanted.limit);
    this.#hasFailed = true;
    try {
      await this.#claim(wanted);
      this.#hasFailed = false;
    } finally {
      free();
    }
    this.#due.wakeUp.set();
  }

  async #claim(wanted: Wanted): Promise<void> {
    this.#due.ask(wanted.quotas.map((s) => s.subscriptionId));
    const { claims, subscriptionIds, throttled } = await this.#options.claim(wanted);
    for (const claim of claims) this.#begin(claim);
    const nowMs = this.#options.elapsedMs();
    for (const { subscriptionId, forMs } of throttled) {
      this.#due.throttle(subscriptionId, nowMs + forMs);
    }
    for (const { id, mayHaveMore } of served(wanted, subscriptionIds)) {
      this.#due.keepOrDrop(id, mayHaveMore);
    }
  }

  #begin(claim: Claim): void {
    const hasRoom = this.#slots.hasRoomFor(claim);
    const work = (hasRoom ? this.#deliver(claim) : this.#options.defer(claim))
      .catch(this.#options.onError) // Not recorded: the lease expires and the delivery is attempted again.
      .finally(() => {
        const isAwaited = !this.#hasRoom;
        this.#open.remove(link);
        if (isAwaited) this.#wakeIfMore();
      });
    const link = this.#open.append(work);
  }

  /** The outcome is recorded in a batch, without a slot. */
  async #deliver(claim: Claim): Promise<void> {
    const { recorded } = await this.#attempt(claim);
    await recorded;
  }

  async #attempt(claim: Claim): ReturnType<DispatcherOptions["deliver"]> {
    this.#slots.take(claim);
    const beganMs = performance.now();
    let keptMs = 0;
    let isAwaited = false;
    try {
      const responsiveness = this.#slots.responsivenessOf(claim.subscriptionId);
      const ended = await this.#options.deliver(claim, responsiveness);
      const nowMs = performance.now();
      isAwaited = this.#slots.isAwaited(claim, this.#due);
      this.#slots.note(claim, ended.signal, beganMs, nowMs);
      if (ended.signal === "unanswered") keptMs = this.#keptLongerMs(nowMs - beganMs);
      return ended;
    } finally {
      if (keptMs > 0) setTimeout(() => this.#free(claim), keptMs).unref();
      else this.#free(claim, isAwaited);
    }
  }

  /** Returns how much longer an attempt keeps its slot that has ended without an answer. */
  #keptLongerMs(tookMs: number): number {
    const { unansweredMs = UNANSWERED_MS, random = Math.random } = this.#options;
    return Math.max(unansweredMs - tookMs, SPREAD * random() * tookMs);
  }

  /** Most slots that become free are of no use to the subscriptions that wait. Looking through them each time would cost much. */
  #free(claim: Claim, wasAwaited = false): void {
    const isAwaited = wasAwaited || this.#slots.isAwaited(claim, this.#due);
    this.#slots.give(claim);
    if (isAwaited) this.#wakeIfMore();
  }

  #wakeIfMore(): void {
    if (this.#due.size > 0) this.#due.wakeUp.set();
  }
}
