import { type Clock, after } from "../domain/clock.ts";
import { DEDUPE_MS } from "../domain/dedupe-key.ts";
import { groupBy } from "../lib/group-by.ts";
import { type SubscriptionId, randomId, timeOrderedId } from "../domain/ids.ts";
import type { KeyRing } from "../domain/sealed-secret.ts";
import type { Queryable } from "../postgres/database.ts";
import {
  type EventRow,
  insertEvents,
  type KeyTaking,
  type PublishedDeliveryRow,
  type WrittenRow,
} from "../postgres/events.ts";
import type { Claim } from "../domain/attempt.ts";
import { toClaim } from "./claims.ts";
import type { Parts } from "./dependencies.ts";
import { type NewEvent, type Published, type DueSubscription, NO_SLOTS } from "./publication.ts";

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
  const rows = toRows(events, now);
  const written = await insertEvents(tx, rows, { now, leases: null, keys: keysAt(now) });
  return publishedOf(rows, written);
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
  const reservation = reserve();
  const claims: Claim[] = [];
  try {
    const now = clock();
    const lease = { leaseId: randomId(), leasedUntil: after(now, rules.leaseMs) };
    const rows = toRows(events, now);
    const { slots, except } = reservation;
    const written = await insertEvents(db, rows, {
      now,
      leases: { slots, except, ...lease },
      keys: keysAt(now, keyWaitMs),
    });

    const byId = new Map(rows.map((row) => [row.id, row]));
    const waiting: DueSubscription[] = [];
    for (const delivery of written) {
      if (delivery.id === null) continue;
      const event = byId.get(delivery.event_id);
      const claim = event && claimOf(ring, event, delivery, lease);
      if (claim) claims.push(claim);
      else if (event)
        waiting.push({
          subscriptionId: delivery.subscription_id,
          organizationId: event.organization_id,
        });
    }
    if (waiting.length > 0) nudge(waiting);
    return publishedOf(rows, written);
  } finally {
    reservation.end(claims);
  }
}

function toRows(events: NewEvent[], now: Date): EventRow[] {
  return events.map((event) => ({
    id: timeOrderedId(now),
    organization_id: event.organizationId,
    type: event.type,
    occurred_at: event.occurredAt ?? now,
    data: event.data,
    subscription_id: event.subscriptionId ?? null,
    dedupe_key: event.dedupeKey ?? null,
    request_id: event.requestId ?? null,
    traceparent: event.traceparent ?? null,
  }));
}

function keysAt(now: Date, waitMs: number | null = null): KeyTaking {
  return { expired: after(now, -DEDUPE_MS), waitMs };
}

function publishedOf(rows: EventRow[], written: WrittenRow[]): Published[] {
  const byEvent = groupBy(written, (row) => row.event_id);
  return rows.map(({ id }) => {
    const subscriptionIds: SubscriptionId[] = [];
    for (const row of byEvent.get(id) ?? []) {
      if (row.id === null) return { eventId: row.first_id, isDuplicate: true, subscriptionIds };
      subscriptionIds.push(row.subscription_id);
    }
    return { eventId: id, isDuplicate: false, subscriptionIds };
  });
}

/** Returns null unless the delivery was written with a lease. */
function claimOf(
  ring: KeyRing,
  event: EventRow,
  { id, subscription_id, url, sealed_secret }: PublishedDeliveryRow,
  lease: Pick<Claim, "leaseId" | "leasedUntil">,
): Claim | null {
  if (url === null) return null;
  const delivery = {
    id,
    attempts: 0,
    lostLeases: 0,
    eventId: event.id,
    type: event.type,
    occurredAt: event.occurred_at,
    data: event.data,
    traceparent: event.traceparent,
    subscriptionId: subscription_id,
    organizationId: event.organization_id,
    sealedSecret: sealed_secret,
    url,
  };
  return toClaim(ring, delivery, lease);
}
