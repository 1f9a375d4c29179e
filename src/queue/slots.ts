import type { OrganizationId, SubscriptionId } from "../lib/ids.ts";
import { Tally } from "../lib/tally.ts";
import type { Wanted } from "../subjects/deliveries/claims.ts";
import type { Claim } from "../subjects/deliveries/rules.ts";
import type { Due } from "./due.ts";
import { NO_PACE, type Pace } from "./pace.ts";
import { Receivers } from "./receivers.ts";
import { belowShare, beyondShare, type Responsiveness, type Quota, type Signal } from "./rules.ts";

/** Due deliveries of a subscription that one claim takes. Attempts at one host share a look-up. */
const QUOTA_MAX = 16;

/** Attempts that begin together. More of them would wait for each other, and then for one record. */
const BURST_MAX = 64;

/** The part of all slots that a failing host may have beyond the share of an organization. More attempts would only time out. */
const FAILING_HOST_PART = 1 / 8;

/** The default setting. */
const ATTEMPT_TIMEOUT_MS = 10_000;

/** The subscription for which an attempt takes a slot. */
export type SlotHolder = Pick<Claim, "subscriptionId" | "organizationId" | "url">;

/** Due subscriptions by organization, longest wait first. */
type Queue = Pick<Due, "organizations" | "organizationCount" | "has" | "of" | "size">;

/**
 * Counts running attempts and decides which subscriptions get the free slots.
 *
 * Organizations that hold the fewest slots come first. The limits apply before the claim, so the backlog of a receiver at its
 * limit is not read.
 */
export class Slots {
  readonly #total: number;
  readonly #receivers: Receivers;
  readonly #pace: Pace;
  readonly #bySubscription = new Tally<SubscriptionId>();
  readonly #byOrganization = new Tally<OrganizationId>();
  readonly #byHost = new Tally<string>();
  /** The subscriptions of each organization that hold slots. */
  readonly #holding = new Map<OrganizationId, Set<SubscriptionId>>();
  #busy = 0;
  #reserved = 0;

  constructor(
    total: number,
    perSubscription: number,
    pace = NO_PACE,
    attemptTimeoutMs = ATTEMPT_TIMEOUT_MS,
  ) {
    this.#total = total;
    this.#pace = pace;
    this.#receivers = new Receivers(perSubscription, attemptTimeoutMs);
  }

  get free(): number {
    return this.#total - this.#busy - this.#reserved;
  }

  /**
   * Returns how many slots a publication for these organizations may reserve, and those of them that get none. Half of all slots
   * are for waiting deliveries. If no more are free, organizations below their share get some of them, so that nobody else's
   * attempts delay their events.
   */
  spareFor(organizations: ReadonlySet<OrganizationId>): { slots: number; full: OrganizationId[] } {
    const beyondHalf = Math.floor(this.free - this.#total / 2);
    if (beyondHalf > 0) return { slots: Math.min(beyondHalf, BURST_MAX), full: [] };

    const newcomers = [...organizations].filter((id) => this.#byOrganization.of(id) === 0);
    const holders = this.#byOrganization.size + newcomers.length;
    const full = [...organizations].filter(
      (id) => this.#belowShare(this.#byOrganization.of(id), holders) === 0,
    );
    if (full.length === organizations.size) return { slots: 0, full };
    return { slots: Math.max(0, Math.min(Math.floor(this.free / 2), QUOTA_MAX)), full };
  }

  get busy(): number {
    return this.#busy;
  }

  /** True if only the last tenth is free, so that holders of their share wait. */
  get isContended(): boolean {
    return this.#beyondShare === 0;
  }

  /** True if organizations may be limited to their shares. */
  get areFew(): boolean {
    return this.#beyondShare < BURST_MAX;
  }

  /**
   * Returns true if the end of this attempt may let another begin: one of its subscription, one at its host if that does not answer and
   * has its share, or any while slots are few. Call it before `give`.
   */
  isAwaited({ subscriptionId, url }: SlotHolder, queue: Pick<Due, "knows">): boolean {
    return this.areFew || queue.knows(subscriptionId) || this.#hasItsShare(hostOf(url));
  }

  #hasItsShare(host: string): boolean {
    return this.#receivers.isFailing(host) && this.#leftAt(host) <= 0;
  }

  /** Organizations and failing hosts with the number of slots that each holds. */
  get holders(): { organizations: [OrganizationId, number][]; failingHosts: [string, number][] } {
    const failingHosts = [...this.#byHost].filter(([host]) => this.#receivers.isFailing(host));
    return { organizations: [...this.#byOrganization], failingHosts };
  }

  /** The subscriptions whose limit is below the initial one. */
  get slowed(): [SubscriptionId, number][] {
    return this.#receivers.slowed;
  }

  /** Returns those subscriptions of the organization that have reached their limit. */
  saturatedOf(organization: OrganizationId): SubscriptionId[] {
    const holding = [...(this.#holding.get(organization) ?? [])];
    return holding.filter((id) => this.#roomOf(id) <= 0);
  }

  /** Returns true if the organization may begin only a few attempts now. */
  isPaced(organization: OrganizationId): boolean {
    return this.#pace.leftFor(organization) < Infinity;
  }

  /** The time until organizations that begin many attempts may begin more, in ms. */
  get nextInMs(): number {
    return this.#pace.nextInMs;
  }

  /** Reserves slots. Returns the function that releases them, once. */
  reserve(count: number): () => void {
    let reserved = count;
    this.#reserved += count;
    return () => {
      this.#reserved -= reserved;
      reserved = 0;
    };
  }

  /**
   * Returns true if an attempt that has a reserved slot may begin. A host that does not answer gets no more slots than an
   * organization.
   */
  hasRoomFor({ subscriptionId, url }: SlotHolder): boolean {
    this.#receivers.learn(subscriptionId, hostOf(url));
    const host = this.#receivers.failingHostOf(subscriptionId);
    return host === null || this.#leftAt(host, this.#total - this.#busy) > 0;
  }

  responsivenessOf(id: SubscriptionId): Responsiveness {
    return this.#receivers.responsivenessOf(id);
  }

  take({ subscriptionId, organizationId, url }: SlotHolder): void {
    this.#busy++;
    this.#bySubscription.add(subscriptionId);
    this.#byOrganization.add(organizationId);
    this.#byHost.add(hostOf(url));
    this.#pace.note(organizationId);
    const holding = this.#holding.get(organizationId);
    if (holding) holding.add(subscriptionId);
    else this.#holding.set(organizationId, new Set([subscriptionId]));
  }

  give({ subscriptionId, organizationId, url }: SlotHolder): void {
    this.#busy--;
    this.#bySubscription.remove(subscriptionId);
    this.#byOrganization.remove(organizationId);
    this.#byHost.remove(hostOf(url));
    if (this.#bySubscription.of(subscriptionId) > 0) return;
    const holding = this.#holding.get(organizationId);
    holding?.delete(subscriptionId);
    if (holding?.size === 0) this.#holding.delete(organizationId);
  }

  /** Adapts the limit of the attempt's subscription. Call it before `give`. */
  note(
    { subscriptionId: id, url }: SlotHolder,
    signal: Signal,
    beganMs: number,
    nowMs: number,
  ): void {
    const inFlight = this.#bySubscription.of(id);
    this.#receivers.note({ id, host: hostOf(url) }, signal, { inFlight, beganMs, nowMs });
  }

  /**
   * Returns what to claim for the free slots: up to 16 deliveries of each subscription, or more if few subscriptions have
   * something due. It names more than fit, in case the first ones have less due than their quotas.
   *
   * While few slots are free, organizations at their share get nothing if others below theirs wait. A receiver that answers
   * promptly gets 16 slots even then, because it frees them soon.
   */
  allot(queue: Queue): Wanted {
    const holders = this.#holdersWith(queue);
    const rest = this.#beyondShare;
    const own = (held: number) => this.#belowShare(held, holders);
    if (!this.areFew) return this.#wanted(queue, rest, (held) => Math.max(own(held), QUOTA_MAX));

    const wanted = this.#wanted(queue, this.free, own);
    return wanted.quotas.length > 0 ? wanted : this.#wanted(queue, rest, () => rest);
  }

  #wanted(queue: Queue, free: number, allowed: (held: number) => number): Wanted {
    const limit = Math.min(free, BURST_MAX);
    const most = Math.max(QUOTA_MAX, Math.floor(limit / queue.size));
    const atHosts = new Map<string, number>();
    const quotas: Quota[] = [];

    for (const organization of fewestFirst(queue.organizations, this.#byOrganization)) {
      if (quotas.length >= limit) break;
      let paced = this.#pace.leftFor(organization);
      const allowedNow = Math.min(paced, allowed(this.#byOrganization.of(organization)));
      let left = allowedNow;
      for (const subscriptionId of fewestFirst(queue.of(organization), this.#bySubscription)) {
        if (quotas.length >= limit || left <= 0 || paced <= 0) break;
        const host = this.#receivers.failingHostOf(subscriptionId);
        const hostLeft = host === null ? most : (atHosts.get(host) ?? this.#leftAt(host));
        const isPrompt = this.#receivers.isPrompt(subscriptionId);
        const mostNow = isPrompt ? Math.max(left, QUOTA_MAX) : left;
        const quota = Math.min(most, paced, mostNow, hostLeft, this.#roomOf(subscriptionId));
        if (quota <= 0) continue;
        quotas.push({ subscriptionId, quota });
        paced -= quota;
        if (allowedNow < limit) left -= quota;
        if (host !== null) atHosts.set(host, hostLeft - quota);
      }
    }
    return { quotas, limit };
  }

  /** True if the subscription is at its limit, or at a host that does not answer and has its share. */
  isAtLimit(id: SubscriptionId): boolean {
    const host = this.#receivers.failingHostOf(id);
    return this.#roomOf(id) <= 0 || (host !== null && this.#leftAt(host) <= 0);
  }

  #roomOf(id: SubscriptionId): number {
    return this.#receivers.limitOf(id) - this.#bySubscription.of(id);
  }

  /** Returns the slots that a failing host may still get: up to the share of an organization, or up to an eighth if many are free. */
  #leftAt(host: string, free = this.free): number {
    const held = this.#byHost.of(host);
    const own = this.#belowShare(held, this.#byOrganization.size || 1, free);
    const most = Math.max(1, Math.floor(this.#total * FAILING_HOST_PART)) - held;
    return Math.max(own, Math.min(most, beyondShare({ total: this.#total, free })));
  }

  #belowShare(held: number, holders: number, free = this.free): number {
    return belowShare({ total: this.#total, free, holders, held });
  }

  get #beyondShare(): number {
    return beyondShare({ total: this.#total, free: this.free });
  }

  /** Organizations that hold slots or wait for one. */
  #holdersWith(queue: Queue): number {
    const holding = [...this.#byOrganization];
    return queue.organizationCount + holding.filter(([id]) => !queue.has(id)).length;
  }
}

/** Yields keys that hold nothing in their order, then the others, the fewest first. */
function* fewestFirst<Key>(keys: Iterable<Key>, held: Tally<Key>): Iterable<Key> {
  const holding: Key[] = [];
  for (const key of keys) {
    if (held.of(key) === 0) yield key;
    else holding.push(key);
  }
  yield* holding.sort((a, b) => held.of(a) - held.of(b));
}

function hostOf(url: string): string {
  return url.split("/", 3)[2] ?? url;
}
