import {
  type DeliveryId,
  type EventId,
  firstIdAt,
  type OrganizationId,
  type SubscriptionId,
} from "../../lib/ids.ts";
import type { Queryable } from "../../postgres/database.ts";
import type { Fragment } from "../../postgres/driver/statement.ts";
import { isHeld } from "../subscriptions/sql.ts";

/**
 * Makes a waiting delivery due, unless it is due already. Returns since when it is due, or null if it does not wait. A lease
 * stays as it is, so an attempt in flight stays the only one.
 */
export async function makeDue(db: Queryable, id: DeliveryId, now: Date): Promise<Date | null> {
  const [row] = await db<{ dueAt: Date }[]>`
    update waiting_deliveries set due_at = least(due_at, ${now}) where id = ${id} returning due_at as "dueAt"`;
  return row?.dueAt ?? null;
}

/** The waiting deliveries that a job is for: those of an organization that were created before it. */
interface WaitingFilter {
  organizationId: OrganizationId;
  subscriptionId: SubscriptionId | null;
  reason: string | null;
  eventId: EventId | null;
  eventType: string | null;
  since: Date | null;
  until: Date | null;
  createdAt: Date;
}

/**
 * Returns the next waiting deliveries of all organizations in the order of their ids, after `after`. A delivery keeps its id, so a job
 * passes each one once, even if it is attempted and waits again meanwhile.
 */
export async function listPassedWaiting(
  db: Queryable,
  filter: WaitingFilter,
  { after, limit }: { after: DeliveryId | null; limit: number },
): Promise<{ id: DeliveryId; fits: boolean }[]> {
  return db<{ id: DeliveryId; fits: boolean }[]>`
    with passed as materialized (
      select * from waiting_deliveries
       where ${isInTime(db, filter)} ${after === null ? db`` : db`and id > ${after}`}
       order by id
       limit ${limit}
    )
    select id, ${fits(db, filter)} as fits from passed order by id`;
}

/** Counts those of these subscriptions that match. Reads at most `limit` and one more, which `isCut` says. */
export async function countWaiting(
  db: Queryable,
  filter: WaitingFilter,
  { subscriptionIds, limit }: { subscriptionIds: SubscriptionId[]; limit: number },
): Promise<{ count: number; isCut: boolean }> {
  const [row] = await db<[{ count: number; isCut: boolean }]>`
    with passed as materialized (
      select w.*
        from unnest(${subscriptionIds}::uuid[]) as s (owner)
       cross join lateral (select * from waiting_deliveries where subscription_id = s.owner) w
       limit ${limit + 1}
    )
    select count(*) filter (where ${isInTime(db, filter)} and ${fits(db, filter)})::int as count,
           count(*) > ${limit} as "isCut"
      from passed`;
  return row;
}

/** A delivery's id begins with the millisecond of its creation. */
function isInTime(db: Queryable, { since, until, createdAt }: WaitingFilter): Fragment {
  return db`
    id < ${firstIdAt(new Date(createdAt.getTime() + 1))}
    ${since ? db`and id >= ${firstIdAt(since)}` : db``}
    ${until ? db`and id < ${firstIdAt(until)}` : db``}`;
}

function fits(db: Queryable, filter: WaitingFilter): Fragment {
  const { organizationId, subscriptionId, reason, eventId, eventType } = filter;
  return db`
    (organization_id = ${organizationId}
     ${subscriptionId ? db`and subscription_id = ${subscriptionId}` : db``}
     ${reason ? db`and last_reason is not distinct from ${reason}` : db``}
     ${eventId ? db`and event_id = ${eventId}` : db``}
     ${eventType ? db`and exists (select from events e where e.id = event_id and e.type = ${eventType})` : db``})`;
}

/** A waiting delivery that a job wants to make due. */
interface Judged {
  subscriptionId: SubscriptionId;
  /** True if it was due already, or is being attempted. */
  isEarly: boolean;
  /** False if its subscription is held or ends. */
  isServed: boolean;
}

/** Makes those due that are not, and whose subscriptions are served. Does not return those that wait no longer. */
export async function makeAllDue(db: Queryable, ids: DeliveryId[], now: Date): Promise<Judged[]> {
  return db<Judged[]>`
    with waiting as materialized (
      select id, subscription_id, due_at <= ${now} or coalesce(leased_until > ${now}, false) as early
        from waiting_deliveries
       where id = any(${ids}::uuid[])
       order by id
         for update
    ),
    judged as (
      select w.*, s.auto_disabled_at is null and s.deleted_at is null and not ${isHeld(db, db`s.id`)} as served
        from waiting w
        join subscriptions s on s.id = w.subscription_id
    ),
    due as (
      update waiting_deliveries set due_at = ${now}
       where id = any(array(select id from judged where served and not early))
    )
    select subscription_id as "subscriptionId", early as "isEarly", served as "isServed" from judged`;
}
