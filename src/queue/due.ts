import type { OrganizationId, SubscriptionId } from "../lib/ids.ts";
import type { DueSubscription } from "./rules.ts";

export interface DueOptions {
  /** Returns subscriptions with something due, in order of id, after `after`. `upTo`: the end of the scan (null: of all). */
  listDue: (page: {
    after: string | null;
    limit: number;
  }) => Promise<{ due: DueSubscription[]; upTo: string | null }>;
  pollIntervalMs: number;
}

/** Subscriptions that one scan returns. The next scan continues after them. */
const SCAN_MAX = 1_000;
const SCAN_PAUSE_MAX_MS = 1_000;
/** Subscriptions that are remembered. A later scan finds the rest again. */
const DUE_MAX = 10_000;
/** If more are remembered, scans leave out subscriptions at their limits. */
const CROWD = 1_000;
/** Subscriptions that have used up their ceilings resume at multiples of this. */
const RESUME_STEP_MS = 5;

/** The subscriptions that may have something due, by organization, longest wait first. */
export class Due {
  /** Wakes the dispatcher that serves them. */
  readonly wakeUp = new WakeSignal();
  readonly #options: DueOptions;
  readonly #isAtLimit: (id: SubscriptionId) => boolean;
  readonly #organizations = new Map<OrganizationId, Set<SubscriptionId>>();
  /** `isNew`: added since the last claim that asked for it. */
  readonly #subscriptions = new Map<SubscriptionId, { of: OrganizationId; isNew: boolean }>();
  /** Subscriptions that have used up their ceilings, and when they resume. */
  readonly #throttled = new Map<SubscriptionId, { of: OrganizationId; untilMs: number }>();
  /** No organization has more subscriptions. */
  #most = 0;
  #resumeAtMs = Infinity;
  #scannedAtMs = -Infinity;
  #scannedUpTo: string | null = null;
  #pauseMs = 0;

  /** `isAtLimit` returns true if the subscription would get no slot now. */
  constructor(options: DueOptions, isAtLimit: (id: SubscriptionId) => boolean = () => false) {
    this.#options = options;
    this.#isAtLimit = isAtLimit;
  }

  get size(): number {
    return this.#subscriptions.size;
  }

  get organizations(): Iterable<OrganizationId> {
    return this.#organizations.keys();
  }

  get organizationCount(): number {
    return this.#organizations.size;
  }

  has(organization: OrganizationId): boolean {
    return this.#organizations.has(organization);
  }

  of(organization: OrganizationId): Iterable<SubscriptionId> {
    return this.#organizations.get(organization) ?? [];
  }

  knows(id: SubscriptionId): boolean {
    return this.#subscriptions.has(id);
  }

  /** Returns true if `max` suffices for one more of this organization: as a limit for all, or its equal share of that. */
  hasRoomWithin(max: number, organization: OrganizationId): boolean {
    if (this.size < max) return true;
    const own = this.#organizations.get(organization)?.size ?? 0;
    const organizations = this.organizationCount + (own === 0 ? 1 : 0);
    return own < Math.floor(max / organizations);
  }

  /** Remembers subscriptions and wakes their dispatcher. */
  nudge(due: DueSubscription[]): void {
    this.add(due);
    this.wakeUp.set();
  }

  /** Remembers subscriptions. Returns how many are new. In a full list, organizations with many give way to those with few. */
  add(due: DueSubscription[]): number {
    let added = 0;
    for (const { subscriptionId: id, organizationId } of due) {
      const known = this.#subscriptions.get(id);
      if (known) known.isNew = true;
      else if (!this.#throttled.has(id) && this.#makeRoomFor(organizationId)) {
        this.#append(id, organizationId);
        added++;
      }
    }
    return added;
  }

  /**
   * Returns false if the list is full and no organization has twice as much as this one would have. Otherwise the organization with
   * the most is forgotten by half, and a scan finds that half again.
   */
  #makeRoomFor(organization: OrganizationId): boolean {
    if (this.size < DUE_MAX) return true;
    const own = this.#organizations.get(organization)?.size ?? 0;
    if (this.#most < 2 * (own + 1)) return false;

    let largest: { id: OrganizationId; size: number } = { id: organization, size: own };
    for (const [id, { size }] of this.#organizations)
      if (size > largest.size) largest = { id, size };
    this.#most = largest.size;
    if (this.#most < 2 * (own + 1)) return false;
    for (const id of [...this.of(largest.id)].slice(Math.ceil(largest.size / 2)))
      this.#forget(id, largest.id);
    return true;
  }

  /** Call it when a claim for these begins. They keep their positions until the claim reaches them. */
  ask(subscriptionIds: SubscriptionId[]): void {
    for (const id of subscriptionIds) {
      const asked = this.#subscriptions.get(id);
      if (asked) asked.isNew = false;
    }
  }

  /** Call it when a claim has reached one. Forgets it, or moves it to the end if it may have more due or was added again. */
  keepOrDrop(id: SubscriptionId, mayHaveMore: boolean): void {
    const reached = this.#subscriptions.get(id);
    if (!reached) return;
    this.#remove(id, reached.of);
    if (mayHaveMore || reached.isNew) this.#append(id, reached.of);
  }

  /** Call it when a claim found the ceiling used up. The subscription resumes at `untilMs`. */
  throttle(id: SubscriptionId, untilMs: number): void {
    const throttled = this.#subscriptions.get(id);
    if (!throttled) return;
    this.#remove(id, throttled.of);
    if (this.#throttled.size >= DUE_MAX) return;
    const resumeAtMs = Math.ceil(untilMs / RESUME_STEP_MS) * RESUME_STEP_MS;
    this.#throttled.set(id, { of: throttled.of, untilMs: resumeAtMs });
    this.#resumeAtMs = Math.min(this.#resumeAtMs, resumeAtMs);
  }

  /** When the next throttled subscription resumes. */
  get resumeAtMs(): number {
    return this.#resumeAtMs;
  }

  /** Resumes the subscriptions whose time has come. */
  resume(nowMs: number): void {
    if (nowMs < this.#resumeAtMs) return;
    this.#resumeAtMs = Infinity;
    for (const [id, { of, untilMs }] of this.#throttled) {
      if (untilMs > nowMs) this.#resumeAtMs = Math.min(this.#resumeAtMs, untilMs);
      else {
        this.#throttled.delete(id);
        this.#append(id, of);
      }
    }
  }

  #append(id: SubscriptionId, of: OrganizationId): void {
    this.#subscriptions.set(id, { of, isNew: true });
    const subscriptions = this.#organizations.get(of) ?? new Set();
    subscriptions.add(id);
    this.#most = Math.max(this.#most, subscriptions.size);
    this.#organizations.set(of, subscriptions);
  }

  /** Moves the organization to the end as well, so that organizations take turns. */
  #remove(id: SubscriptionId, of: OrganizationId): void {
    this.#forget(id, of);
    const subscriptions = this.#organizations.get(of);
    if (!subscriptions) return;
    this.#organizations.delete(of);
    this.#organizations.set(of, subscriptions);
  }

  #forget(id: SubscriptionId, of: OrganizationId): void {
    this.#subscriptions.delete(id);
    const subscriptions = this.#organizations.get(of);
    subscriptions?.delete(id);
    if (!subscriptions?.size) this.#organizations.delete(of);
  }

  /**
   * Finds what became due by itself or was published by another process. Returns true if any of it is new. The next scan comes
   * later if this one was slow, or if enough is due for all free slots (`hasEnough`). If the list is full, it first forgets the
   * subscriptions at their limits.
   */
  async scan(hasEnough: boolean): Promise<boolean> {
    const { listDue, pollIntervalMs } = this.#options;
    const began = performance.now();
    if (began < this.#scannedAtMs + (hasEnough ? SCAN_PAUSE_MAX_MS : this.#pauseMs)) return false;

    this.#scannedAtMs = began;
    this.#pauseMs = pollIntervalMs;
    if (this.size >= DUE_MAX) this.#forgetThoseAtLimits();
    const { due, upTo } = await listDue({ after: this.#scannedUpTo, limit: SCAN_MAX });
    const mayBegin = (id: SubscriptionId) => this.size < CROWD || !this.#isAtLimit(id);
    const hasFound = this.add(due.filter(({ subscriptionId: id }) => mayBegin(id))) > 0;
    this.#scannedUpTo = upTo;

    const tookMs = performance.now() - began;
    const restMs = Math.max(pollIntervalMs, Math.min(10 * tookMs, SCAN_PAUSE_MAX_MS));
    const onwardMs = hasFound ? 0 : 2 * tookMs;
    this.#pauseMs = upTo === null ? restMs : onwardMs;
    return hasFound;
  }

  #forgetThoseAtLimits(): void {
    for (const [id, { of }] of this.#subscriptions) if (this.#isAtLimit(id)) this.#forget(id, of);
  }
}

/** Lets one loop sleep until it is set or a timeout passes. Setting it while the loop is awake ends the next wait. */
class WakeSignal {
  #isSet = false;
  #wake: (() => void) | undefined;

  set(): void {
    this.#isSet = true;
    this.#wake?.();
  }

  async wait(timeoutMs: number): Promise<void> {
    if (!this.#isSet) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, timeoutMs);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    this.#wake = undefined;
    this.#isSet = false;
  }
}
