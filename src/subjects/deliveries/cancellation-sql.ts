import {
  type DeliveryId,
  type EventId,
  lastDeliveryOf,
  type OrganizationId,
  type SubscriptionId,
} from "../../lib/ids.ts";
import type { Queryable } from "../../postgres/database.ts";

/*
 * Ids come as arrays, and not as rows to join with: a plan that was made while few deliveries waited would look at each row of a long
 * queue again and again, until statistics are gathered anew.
 */

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
       where id = any(array(
         select id from waiting_deliveries
          where id = any(array(select id from found))
          order by id
            for update))
      returning *
    ),
    ${keepGone(db, now)}
    -- Not the number of deleted rows: some may have been recorded just now, and more may be waiting.
    select (select count(*)::int from found) as found, (select json_agg(c) from (${countGone(db)}) c) as counts`;
  return { counts: counts ?? [], isSomeLeft: found === CANCELLED_MAX };
}

/**
 * The same for an event. The ids of its deliveries follow its own. An index holds its redeliveries.
 */
export async function cancelWaitingOfEvent(
  db: Queryable,
  id: EventId,
  now: Date,
): Promise<Cancelled> {
  const counts = await db<CancelledCount[]>`
    with gone as (
      delete from waiting_deliveries
       where id = any(array(
         select id from waiting_deliveries
          where event_id = ${id}
            and (id > ${id} and id <= ${lastDeliveryOf(id)} or is_redelivery(id))
          order by id
          limit ${CANCELLED_MAX}
            for update))
      returning *
    ),
    ${keepGone(db, now)}
    ${countGone(db)}`;
  const cancelled = counts.reduce((sum, one) => sum + one.cancelled, 0);
  return { counts, isSomeLeft: cancelled === CANCELLED_MAX };
}

/** The same for these deliveries. An operator's reason stays with each. */
export async function cancelForReason(
  db: Queryable,
  ids: DeliveryId[],
  { reason, now }: { reason: string; now: Date },
): Promise<CancelledCount[]> {
  return db<CancelledCount[]>`
    with gone as (
      delete from waiting_deliveries
       where id = any(array(
         select id from waiting_deliveries
          where id = any(${ids}::uuid[])
          order by id
            for update))
      returning *
    ),
    ${keepGone(db, now)},
    reasons as (
      insert into cancel_reasons (delivery_id, reason, cancelled_at) select id, ${reason}, ${now} from gone
    )
    ${countGone(db)}`;
}

/** Tables that write the deleted rows into the history, and the leases of those whose attempt is in flight. */
function keepGone(db: Queryable, now: Date) {
  return db`
    cancelled as (
      insert into finished_deliveries
             (id, finished_at, subscription_number, ending, attempts, last_reason, troubled_organization_id)
      select id, ${now}, (select s.number from subscriptions s where s.id = subscription_id), 1, attempts, last_reason,
             organization_id
        from gone
    ),
    under_way as (
      insert into cancelled_leases (delivery_id, lease_id, cancelled_at)
      select id, lease_id, ${now} from gone where lease_id is not null
    )`;
}

/** Counts the deleted rows by subscription. */
function countGone(db: Queryable) {
  return db`
    select subscription_id as "subscriptionId", organization_id as "organizationId", count(*)::int as cancelled
      from gone
     group by subscription_id, organization_id`;
}
