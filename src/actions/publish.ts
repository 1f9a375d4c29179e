import { type Clock, after } from "../domain/clock.ts";
import { DEDUPE_MS } from "../domain/dedupe-key.ts";
import type { DueSubscription } from "../domain/due-notice.ts";
import type { NewEvent } from "../domain/event.ts";
import { groupBy } from "../lib/group-by.ts";
import { type SubscriptionId, randomId, timeOrderedId } from "../domain/ids.ts";
import type { KeyRing } from "../domain/sealed-secret.ts";
import type { Queryable } from "../postgres/database.ts";
import {
  type Duplicate,
  type IdentifiedEvent,
  insertEvents,
  type KeyTaking,
  type WrittenDelivery,
} from "../postgres/events.ts";
import type { Claim } from "../domain/attempt.ts";
import { toClaim } from "./claims.ts";
import type { Parts } from "./dependencies.ts";
import { type Published, NO_SLOTS } from "./publication.ts";

/** For a command that works on the database and sends no notice. Dispatchers find its events when they poll. */
export const NO_DISPATCHER: Pick<Parts, "nudge" | "reserve"> = {
  nudge: () => undefined,
  reserve: () => NO_SLOTS,
};

/**
 * Publishes events in the caller's transaction `tx`, with a delivery for each recipient. They exist if and only if the
 * transaction commits.
 *
 * Call `notePublished` after the commit, so that the attempts start within milliseconds. Otherwise a poll finds the
 * deliveries. An event for one subscription that is not active is not written, and has no `subscriptionIds`. A dedupe key
 * is locked until the transaction ends, and other publishers wait for it.
 */
export async function publish(
  { clock }: { clock: Clock },
  tx: Queryable,
  events: NewEvent[],
): Promise<Published[]> {
  const now = clock();
  const identified = identify(events, now);
  const written = await insertEvents(tx, identified, { now, leases: null, keys: keysAt(now) });
  return publishedOf(identified, written);
}

/**
 * Publishes events in a transaction of their own. If a slot is free, a delivery is written with its lease, so that its attempt
 * starts as soon as the event is durable. The others wait for a claim.
 *
 * Waits at most `keyWaitMs` for publishers that hold a dedupe key and have not committed: see `isInUse`. Slots stay reserved
 * meanwhile.
 */
export async function publishAtOnce(
  { db, clock, ring, rules, nudge, reserve }: Parts,
  events: NewEvent[],
  keyWaitMs: number | null = null,
): Promise<Published[]> {
  const reservation = reserve(new Set(events.map((event) => event.organizationId)));
  const claims: Claim[] = [];
  try {
    const now = clock();
    const lease = { leaseId: randomId(), leasedUntil: after(now, rules.leaseMs) };
    const identified = identify(events, now);
    const { slots, except } = reservation;
    const written = await insertEvents(db, identified, {
      now,
      leases: { slots, except, ...lease },
      keys: keysAt(now, keyWaitMs),
    });

    const byId = new Map(identified.map((one) => [one.id, one]));
    const waiting: DueSubscription[] = [];
    for (const delivery of written) {
      if (delivery.id === null) continue;
      const one = byId.get(delivery.eventId);
      const claim = one && claimOf(ring, one, delivery, lease);
      if (claim) claims.push(claim);
      else if (one)
        waiting.push({
          subscriptionId: delivery.subscriptionId,
          organizationId: one.event.organizationId,
        });
    }
    if (waiting.length > 0) nudge(waiting);
    return publishedOf(identified, written);
  } finally {
    reservation.end(claims);
  }
}

function identify(events: NewEvent[], now: Date): IdentifiedEvent[] {
  return events.map((event) => ({
    id: timeOrderedId(now),
    occurredAt: event.occurredAt ?? now,
    event, // Not copied: that took longer than everything else here.
  }));
}

function keysAt(now: Date, waitMs: number | null = null): KeyTaking {
  return { expired: after(now, -DEDUPE_MS), waitMs };
}

function publishedOf(
  events: IdentifiedEvent[],
  written: (WrittenDelivery | Duplicate)[],
): Published[] {
  const byEvent = groupBy(written, ({ eventId }) => eventId);
  return events.map(({ id }) => {
    const subscriptionIds: SubscriptionId[] = [];
    for (const one of byEvent.get(id) ?? []) {
      if (one.id === null) return { eventId: one.firstId, isDuplicate: true, subscriptionIds };
      subscriptionIds.push(one.subscriptionId);
    }
    return { eventId: id, isDuplicate: false, subscriptionIds };
  });
}

/** Returns null unless the delivery was written with a lease. */
function claimOf(
  ring: KeyRing,
  { id: eventId, occurredAt, event }: IdentifiedEvent,
  { id, subscriptionId, url, sealedSecret }: WrittenDelivery,
  lease: Pick<Claim, "leaseId" | "leasedUntil">,
): Claim | null {
  if (url === null) return null;
  const delivery = {
    id,
    attempts: 0,
    lostLeases: 0,
    eventId,
    type: event.type,
    occurredAt,
    data: event.data,
    traceparent: event.traceparent ?? null,
    subscriptionId,
    organizationId: event.organizationId,
    sealedSecret,
    url,
  };
  return toClaim(ring, delivery, lease);
}
