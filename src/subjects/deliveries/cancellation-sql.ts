import type { EventId, OrganizationId, SubscriptionId } from "../../lib/ids.ts";
import type { Queryable } from "../../postgres/database.ts";

/** Deliveries that one statement cancels. Many more would block other statements and then exceed the time limit. */
const CANCELLED_MAX = 5_000;

/** The number of cancelled deliveries of a subscription. */
export interface CancelledCount {
  subscriptionId: SubscriptionId;
  organizationId: OrganizationId;
  cancelled: number;
}

interface Cancelled {
  counts: CancelledCount[];
  /** True if more may be waiting. */
  isSomeLeft: boolean;
}

/**
 * Cancels waiting deliveries of these subscriptions, and returns their numbers. A claimed delivery keeps its lease in the
 * history, so that a running attempt can still be recorded, even after its lease has expired.
 */
export async function cancelWaiting(
  db: Queryable,
  subscriptionIds: SubscriptionId[],
  now: Date,
): Promise<Cancelled> {
  const [{ found, counts }] = await db<[{ found: number; counts: CancelledCount[] | null }]>`
    with found as materialized (
      select id from waiting_deliveries
       where subscription_id = any(${subscriptionIds}::uuid[])
       limit ${CANCELLED_MAX}
    ),
    gone as (
      delete from waiting_deliveries
       where id in (
         select id from waiting_deliveries
          where id in (select id from found)
          order by id
            for update)
      returning *
    ),
    cancelled as (${keepGone(db, now)})
    -- Not the number of deleted rows: some may have been recorded just now, and more may be waiting.
    select (select count(*)::int from found) as found, (select json_agg(c) from (${countGone(db)}) c) as counts`;
  return { counts: counts ?? [], isSomeLeft: found === CANCELLED_MAX };
}

/**
 * The same for an event. A delivery that was created with its event has an id of the same millisecond. An index holds those
 * that were created later.
 */
export async function cancelWaitingOfEvent(
  db: Queryable,
  id: EventId,
  now: Date,
): Promise<Cancelled> {
  const ms = id.slice(0, 13);
  const counts = await db<CancelledCount[]>`
    with gone as (
      delete from waiting_deliveries
       where id in (
         select id from waiting_deliveries
          where event_id = ${id}
            and (id between ${`${ms}-0000-0000-000000000000`} and ${`${ms}-ffff-ffff-ffffffffffff`}
                 or substring(uuid_send(id) from 1 for 6) <> substring(uuid_send(event_id) from 1 for 6))
          order by id
          limit ${CANCELLED_MAX}
            for update)
      returning *
    ),
    cancelled as (${keepGone(db, now)})
    ${countGone(db)}`;
  const cancelled = counts.reduce((sum, one) => sum + one.cancelled, 0);
  return { counts, isSomeLeft: cancelled === CANCELLED_MAX };
}

/** Writes the deleted rows into the history. */
function keepGone(db: Queryable, now: Date) {
  return db`
    insert into finished_deliveries
           (id, event_id, subscription_id, organization_id, created_at, finished_at, state, attempts, last_reason, lease_id)
    select id, event_id, subscription_id, organization_id, created_at, ${now}, 'cancelled', attempts, last_reason, lease_id
      from gone`;
}

/** Counts the deleted rows by subscription. */
function countGone(db: Queryable) {
  return db`
    select subscription_id as "subscriptionId", organization_id as "organizationId", count(*)::int as cancelled
      from gone
     group by subscription_id, organization_id`;
}
