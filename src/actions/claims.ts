import { after } from "../domain/clock.ts";
import { encodeEnvelope } from "../domain/event.ts";
import { randomId } from "../domain/ids.ts";
import {
  cancelWaiting,
  claimDue,
  type ClaimedDelivery,
  type Lease,
} from "../postgres/waiting-deliveries.ts";
import type { Dependencies } from "./dependencies.ts";
import { openOnce } from "./opened-secrets.ts";

/** A delivery that this process may attempt until the lease ends. */
export interface Claim extends Lease {
  event_id: string;
  type: string;
  subscription_id: string;
  url: string;
  /** Attempts that ended before. */
  attempts: number;
  lost_leases: number;
  /** Null when no key of the ring opens it. */
  signingSecret: string | null;
  body: Buffer;
}

/** What of one subscription a dispatcher has hands for. */
export interface Share {
  subscription_id: string;
  share: number;
}

/** Leases due deliveries to this process. One whose subscription is not active any more is cancelled instead. */
export async function claimDeliveries(
  { db, clock, ring, rules }: Pick<Dependencies, "db" | "clock" | "ring" | "rules">,
  wanted: Share[],
): Promise<Claim[]> {
  const now = clock();
  const leasedUntil = after(now, rules.leaseMs);
  const claimed = await claimDue(db, wanted, { now, leasedUntil, leaseId: randomId() });

  const orphans = new Set(claimed.filter((d) => !d.active).map((d) => d.subscription_id));
  if (orphans.size > 0) await cancelWaiting(db, [...orphans], now);

  return claimed.filter((d) => d.active).map((d) => toClaim(d));

  function toClaim({ sealed_secret, occurred_at, data, ...delivery }: ClaimedDelivery): Claim {
    const { event_id: id, type, subscription_id } = delivery;
    const signingSecret = sealed_secret && openOnce(ring, subscription_id, sealed_secret);
    const event = { id, type, occurredAt: occurred_at, data };
    return { ...delivery, signingSecret, body: encodeEnvelope(event, subscription_id) };
  }
}
