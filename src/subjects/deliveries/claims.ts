import { after } from "../../lib/clock.ts";
import { type LeaseId, randomId, type SubscriptionId, timeOfId } from "../../lib/ids.ts";
import type { Quota } from "../../queue/rules.ts";
import type { Foundations } from "../dependencies.ts";
import { encodeEnvelope } from "../events/rules.ts";
import type { KeyRing } from "../secrets/rules.ts";
import { openOnce } from "../secrets/work.ts";
import { refillMs } from "../subscriptions/rules.ts";
import { claimDue, type ClaimedDelivery, type FoundCeiling } from "./claims-sql.ts";
import type { Claim } from "./rules.ts";

/** The bounds of a claim: at most `quota` deliveries of each subscription, and `limit` in all. */
export interface Wanted {
  /** In the order in which they are served. */
  quotas: Quota[];
  limit: number;
}

/** The result of a claim. */
export interface Taken {
  claims: Claim[];
  /** The subscription of each delivery, also of those that were cancelled instead of leased. */
  subscriptionIds: SubscriptionId[];
  /** The subscriptions that are held or have used up their ceilings, and for how long not to claim for them. */
  throttled: Throttled[];
}

/** A nudge for a held subscription begins a claim no sooner than this after the last one. */
const HELD_PAUSE_MS = 1_000;

export interface Throttled {
  subscriptionId: SubscriptionId;
  forMs: number;
}

/** Leases due deliveries to this process. Cancels those whose subscription is no longer active. */
export async function claimDeliveries(
  { db, clock, ring, rules, cancelling }: Foundations,
  wanted: Wanted,
): Promise<Taken> {
  const now = clock();
  const leasedUntil = after(now, rules.leaseMs);
  const leaseId: LeaseId = randomId();
  const { claimed, ceilings } = await claimDue(db, wanted, { now, leasedUntil, leaseId });

  // Not awaited: the claim must neither wait for a cancellation nor fail with it.
  const orphans = claimed.filter((d) => !d.active);
  orphans.forEach((d) => cancelling.cancelRest(d.subscriptionId));

  return {
    claims: claimed.filter((d) => d.active).map((d) => toClaim(ring, d, { leaseId, leasedUntil })),
    subscriptionIds: claimed.map((d) => d.subscriptionId),
    throttled: ceilings
      .filter((ceiling) => isUsedUp(ceiling, wanted, claimed))
      .map((ceiling) => ({
        subscriptionId: ceiling.subscriptionId,
        forMs: ceiling.isHeld ? HELD_PAUSE_MS : refillMs(ceiling, now),
      })),
  };
}

/** Returns true if the claim took all tokens, and these were fewer than the quota. */
function isUsedUp(
  { subscriptionId: id, tokens }: FoundCeiling,
  { quotas }: Wanted,
  claimed: ClaimedDelivery[],
): boolean {
  const quota = quotas.find((wanted) => wanted.subscriptionId === id)?.quota ?? 0;
  const taken = claimed.filter((delivery) => delivery.subscriptionId === id).length;
  return tokens < quota && taken >= tokens;
}

// Listed one by one, because copying the rest of a row took a sixth of our time for a delivery.
export function toClaim(
  ring: KeyRing,
  delivery: Omit<ClaimedDelivery, "active">,
  { leaseId, leasedUntil }: Pick<Claim, "leaseId" | "leasedUntil">,
): Claim {
  const { id, eventId, type, data, subscriptionId, sealedSecret } = delivery;
  const occurredAt = delivery.occurredAt ?? timeOfId(eventId);
  return {
    id,
    leaseId,
    leasedUntil,
    eventId,
    type,
    subscriptionId,
    subscriptionNumber: delivery.subscriptionNumber,
    organizationId: delivery.organizationId,
    url: delivery.url,
    attempts: delivery.attempts,
    lostLeases: delivery.lostLeases,
    traceparent: delivery.traceparent,
    signingSecret: sealedSecret && openOnce(ring, subscriptionId, sealedSecret),
    body: encodeEnvelope({ id: eventId, type, occurredAt, data }, subscriptionId),
  };
}
