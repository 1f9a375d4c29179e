import { after } from "../domain/clock.ts";
import { randomId } from "../domain/ids.ts";
import { type DirectEventRow, insertDirectEvents } from "../postgres/events.ts";
import { type Claim, toClaim } from "./claims.ts";
import type { Parts } from "./dependencies.ts";

export interface DirectEvent extends Omit<DirectEventRow, "lease_id" | "leased_until"> {
  /** Where its delivery goes. */
  url: string;
}

/**
 * Lends free hands to deliveries that are being accepted: tells `accept` of each of these subscriptions whether it got
 * one, and begins the attempts of the claims that `accept` answers.
 */
export type Lend = (
  subscriptionIds: string[],
  accept: (lent: boolean[]) => Promise<Claim[]>,
) => Promise<void>;

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
  let isWritten: boolean[] = [];
  await lend(
    events.map((event) => event.subscription_id),
    async (lent) => {
      const lease = { lease_id: randomId(), leased_until: after(clock(), rules.leaseMs) };
      const rows = events.map(({ url, ...event }, index) => {
        if (!lent[index]) return { ...event, ...NO_LEASE };
        lookAhead(url);
        return { ...event, ...lease };
      });
      const recipients = await insertDirectEvents(db, rows);
      isWritten = rows.map((row) => recipients.has(row.id));

      const waiting = rows.filter((row, index) => isWritten[index] && row.lease_id === null);
      if (waiting.length > 0) nudge(waiting.map((row) => row.subscription_id));
      return rows.flatMap(({ id: event_id, delivery_id: id, lease_id, ...event }) => {
        const recipient = recipients.get(event_id);
        if (recipient === undefined || lease_id === null) return [];
        const row = { ...event, ...recipient, id, event_id, attempts: 0, lost_leases: 0 };
        return [toClaim(ring, row, lease_id)];
      });
    },
  );
  return isWritten;
}

const NO_LEASE = { lease_id: null, leased_until: null };

/** For a process without a dispatcher. */
export const lendNone: Lend = async (subscriptionIds, accept) => {
  await accept(subscriptionIds.map(() => false));
};
