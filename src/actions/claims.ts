import { refillMs } from "../domain/ceiling.ts";
import { after } from "../domain/clock.ts";
import { encodeEnvelope } from "../domain/event.ts";
import { type SubscriptionId, randomId } from "../domain/ids.ts";
import type { KeyRing } from "../domain/sealed-secret.ts";
import { type CeilingRow, claimDue, type ClaimedDelivery } from "../postgres/claims.ts";
import type { Claim } from "../domain/attempt.ts";
import type { Foundations } from "./dependencies.ts";
import { openOnce } from "./opened-secrets.ts";

/** The number of slots that a dispatcher has for one subscription. */
export interface Share {
  subscription_id: SubscriptionId;
  share: number;
}

/** What a claim may take: at most `share` deliveries of each subscription, and `limit` in all. */
export interface Wanted {
  /** In the order in which they are served. */
  shares: Share[];
  limit: number;
}

/** The result of a claim. */
export interface Taken {
  claims: Claim[];
  /** The subscription of each delivery, also of those that were cancelled instead of leased. */
  subscriptionIds: string[];
  /** The subscriptions that have used up their ceilings, and for how long not to claim for them. */
  throttled: Throttled[];
}

export interface Throttled {
  subscription_id: SubscriptionId;
  forMs: number;
}

/** Leases due deliveries to this process. Cancels those whose subscription is no longer active. */
export async function claimDeliveries(
  { db, clock, ring, rules, cancelling }: Foundations,
  wanted: Wanted,
): Promise<Taken> {
  const now = clock();
  const leasedUntil = after(now, rules.leaseMs);
  const leaseId = randomId();
  const { claimed, ceilings } = await claimDue(db, wanted, { now, leasedUntil, leaseId });

  // Not awaited: the claim must neither wait for a cancellation nor fail with it.
  const orphans = claimed.filter((d) => !d.active);
  orphans.forEach((d) => cancelling.cancelRest(d.subscription_id));

  return {
    claims: claimed.filter((d) => d.active).map((d) => toClaim(ring, d, { leaseId, leasedUntil })),
    subscriptionIds: claimed.map((d) => d.subscription_id),
    throttled: ceilings
      .filter((ceiling) => isUsedUp(ceiling, wanted, claimed))
      .map((ceiling) => ({
        subscription_id: ceiling.subscription_id,
        forMs: refillMs(ceiling, now),
      })),
  };
}

/** Returns true if the claim took all tokens, and these were fewer than the share. */
function isUsedUp(
  { subscription_id: id, tokens }: CeilingRow,
  { shares }: Wanted,
  claimed: ClaimedDelivery[],
): boolean {
  const share = shares.find((wanted) => wanted.subscription_id === id)?.share ?? 0;
  const taken = claimed.filter((delivery) => delivery.subscription_id === id).length;
  return tokens < share && taken >= tokens;
}

// Listed one by one, because copying the rest of a row took a sixth of our time for a delivery.
export function toClaim(
  ring: KeyRing,
  row: Omit<ClaimedDelivery, "active">,
  { leaseId: lease_id, leasedUntil: leased_until }: { leaseId: string; leasedUntil: Date },
): Claim {
  const { id, event_id, type, subscription_id, organization_id, url, attempts, lost_leases } = row;
  const event = { id: event_id, type, occurredAt: row.occurred_at, data: row.data };
  return {
    id,
    lease_id,
    leased_until,
    event_id,
    type,
    subscription_id,
    organization_id,
    url,
    attempts,
    lost_leases,
    traceparent: row.traceparent,
    signingSecret: row.sealed_secret && openOnce(ring, subscription_id, row.sealed_secret),
    body: encodeEnvelope(event, subscription_id),
  };
}
