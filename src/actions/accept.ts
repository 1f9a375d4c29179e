import { after } from "../domain/clock.ts";
import { randomId } from "../domain/ids.ts";
import { type DirectEventRow, insertDirectEvents, type Recipient } from "../postgres/events.ts";
import { type Claim, toClaim } from "./claims.ts";
import type { Parts } from "./dependencies.ts";

export interface DirectEvent extends DirectEventRow {
  /** Where its delivery goes. */
  url: string;
}

/** Free hands, lent to deliveries that are being accepted. */
export interface Loan {
  /** Of each, whether it got one. */
  lent: boolean[];
  /** Gives the hands back and begins these attempts: once, whatever became of the deliveries. */
  settle: (claims: Claim[]) => void;
}

export type Lend = (subscriptionIds: string[]) => Loan;

/** For a process without a dispatcher. */
export const lendNone: Lend = (subscriptionIds) => ({
  lent: subscriptionIds.map(() => false),
  settle: () => undefined,
});

/**
 * Writes events with a delivery each, and answers which of them were written: those whose subscription is active.
 *
 * A delivery that a hand is lent to is written claimed, while its host is looked up, and its attempt begins once it is
 * durable. The others wait for a claim.
 */
export async function acceptAll(
  { db, clock, ring, rules, nudge, lend = lendNone, lookAhead }: Parts,
  events: DirectEvent[],
): Promise<boolean[]> {
  const { lent, settle } = lend(events.map((event) => event.subscription_id));
  const claims: Claim[] = [];
  try {
    const lease = { leaseId: randomId(), leasedUntil: after(clock(), rules.leaseMs) };
    const inserting = insertDirectEvents(db, events, lent, lease);
    for (const [index, { url }] of events.entries()) if (lent[index]) lookAhead(url);
    const recipients = await inserting;

    const waiting: string[] = [];
    for (const [index, event] of events.entries()) {
      const recipient = recipients.get(event.id);
      if (recipient === undefined) continue;
      if (lent[index]) claims.push(toClaim(ring, claimedRow(event, recipient), lease));
      else waiting.push(event.subscription_id);
    }
    if (waiting.length > 0) nudge(waiting);
    return events.map(({ id }) => recipients.has(id));
  } finally {
    settle(claims);
  }
}

// What is copied comes last: each member named behind a copy costs a microsecond.
function claimedRow(event: DirectEvent, { url, sealed_secret }: Recipient) {
  const { id: event_id, delivery_id: id, subscription_id, type, occurred_at, data } = event;
  const fresh = { attempts: 0, lost_leases: 0 };
  return { id, event_id, subscription_id, type, occurred_at, data, url, sealed_secret, ...fresh };
}
