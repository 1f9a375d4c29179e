import type { Queryable } from "./database.ts";
import type { DeliveryId, EventId, SubscriptionId } from "../domain/ids.ts";

/** What a dispatcher needs to make an attempt. */
export interface ClaimedDelivery {
  id: DeliveryId;
  attempts: number;
  /** Leases in a row that ended without an outcome. */
  lost_leases: number;
  event_id: EventId;
  type: string;
  occurred_at: Date;
  data: string;
  subscription_id: SubscriptionId;
  /** Null when the subscription is deleted: then there is nothing to sign with, and nothing to send. */
  sealed_secret: Buffer | null;
  url: string;
  active: boolean;
}

/**
 * Takes due deliveries for one process alone, of each wanted subscription the most overdue, up to its share, until there
 * are as many as the limit.
 *
 * A lease ends by its time alone, so a delivery whose process dies can be claimed again by itself: there is no separate
 * state to leave behind and nothing to sweep up. A claim waits for no disk: one that a crash of the database takes back
 * is made again.
 */
export async function claimDue(
  db: Queryable,
  wanted: { shares: { subscription_id: SubscriptionId; share: number }[]; limit: number },
  { now, leasedUntil, leaseId }: { now: Date; leasedUntil: Date; leaseId: string },
): Promise<ClaimedDelivery[]> {
  return db<ClaimedDelivery[]>`
    with due as (
      select d.id
        from set_config('synchronous_commit', 'off', true),
             unnest(${wanted.shares.map((s) => s.subscription_id)}::uuid[], ${wanted.shares.map((s) => s.share)}::int[])
             as w (subscription_id, share)
       cross join lateral (
         select q.id
           from waiting_deliveries q
          -- Bounded and ordered by both columns, or the planner may take the index on due_at alone.
          where (q.subscription_id, q.due_at) >= (w.subscription_id, '-infinity'::timestamptz)
            and (q.subscription_id, q.due_at) <= (w.subscription_id, ${now}::timestamptz)
            and (q.leased_until is null or q.leased_until <= ${now})
          order by q.subscription_id, q.due_at
          limit w.share
            for update skip locked
       ) d
       limit ${wanted.limit}
    ),
    claimed as (
      update waiting_deliveries q
         set leased_until = ${leasedUntil},
             lost_leases = case when q.lease_id is null then 0 else q.lost_leases + 1 end,
             lease_id = ${leaseId}
       where q.id = any(array(select id from due))
      returning q.*
    )
    select c.id, c.attempts, c.lost_leases, c.event_id, e.type, e.occurred_at, e.data,
           c.subscription_id, s.sealed_secret, s.url,
           s.auto_disabled_at is null and s.deleted_at is null as active
      from claimed c
      join subscriptions s on s.id = c.subscription_id
     cross join lateral (select * from events where id = c.event_id limit 1) e`;
}

/** Subscriptions with something waiting that one look passes. */
const HOPS_MAX = 5_000;

/** What a look at the queue came to. */
export interface Look {
  /** Subscriptions that have something due that nobody has claimed, in order of id. */
  due: string[];
  /** Where the next look goes on; null when this one came to the end. */
  upTo: string | null;
}

/**
 * Looks for what is due, beginning behind `after`.
 *
 * Hops from one subscription's earliest delivery to the next one's, so the cost is the number of subscriptions with
 * anything waiting and of leases, however much waits; and nothing at all while nothing is due.
 */
export async function listDueSubscriptions(
  db: Queryable,
  { now, after, limit }: { now: Date; after: string | null; limit: number },
): Promise<Look> {
  const rows = await db<{ subscription_id: SubscriptionId; is_due: boolean; hop: number }[]>`
    with recursive earliest as (
      (select subscription_id, due_at, leased_until, 1 as hop
         from waiting_deliveries
        where exists (select from waiting_deliveries where due_at <= ${now})
          and subscription_id > ${after ?? NO_ID}
        order by subscription_id, due_at
        limit 1)
      union all
      select n.subscription_id, n.due_at, n.leased_until, e.hop + 1
        from earliest e
       cross join lateral (
         select subscription_id, due_at, leased_until
           from waiting_deliveries
          where subscription_id > e.subscription_id
          order by subscription_id, due_at
          limit 1
       ) n
       where e.hop < ${HOPS_MAX}
    )
    select subscription_id, is_due, hop
      from earliest e
     cross join lateral (
       select due_at <= ${now}
              and (leased_until is null
                   or leased_until <= ${now}
                   or exists (
                     select from waiting_deliveries q
                      where (q.subscription_id, q.due_at) >= (e.subscription_id, e.due_at)
                        and (q.subscription_id, q.due_at) <= (e.subscription_id, ${now}::timestamptz)
                        and (q.leased_until is null or q.leased_until <= ${now}))) as is_due
     ) as one
     where is_due or hop = ${HOPS_MAX}
     limit ${limit}`;
  const last = rows.at(-1);
  const isCutShort = rows.length === limit || last?.hop === HOPS_MAX;
  return {
    due: rows.filter((row) => row.is_due).map((row) => row.subscription_id),
    upTo: isCutShort ? (last?.subscription_id ?? null) : null,
  };
}

const NO_ID = "00000000-0000-0000-0000-000000000000";

/** When the next delivery that nobody has claimed is or was due, or null while there is none. */
export async function findNextDue(db: Queryable, now: Date): Promise<Date | null> {
  const [row] = await db<{ due_at: Date }[]>`
    select due_at
      from waiting_deliveries
     where leased_until is null or leased_until <= ${now}
     order by due_at
     limit 1`;
  return row?.due_at ?? null;
}

/** A delivery, and the lease that somebody holds on it. */
export interface Lease {
  id: DeliveryId;
  lease_id: string;
}

/**
 * Locks those deliveries whose lease is still held, in one order, and answers which lease holds each. The fence against a
 * process that slept, and that may have claimed the same delivery again since.
 */
export async function lockHeld(db: Queryable, leases: Lease[]): Promise<Map<string, string>> {
  const rows = await db<Lease[]>`
    select q.id, q.lease_id
      from unnest(${leases.map((l) => l.id)}::uuid[], ${leases.map((l) => l.lease_id)}::uuid[])
           as l (id, lease_id)
      join waiting_deliveries q on q.id = l.id and q.lease_id = l.lease_id
     order by q.id
       for update of q`;
  return new Map(rows.map((row) => [row.id, row.lease_id]));
}

/** Gives leases back, those that are still held, without an attempt having been made. */
export async function releaseLeases(db: Queryable, leases: Lease[], dueAt: Date): Promise<void> {
  await db`
    update waiting_deliveries
       set due_at = ${dueAt}, lease_id = null, leased_until = null, lost_leases = 0
     where id in (
       select q.id
         from unnest(${leases.map((l) => l.id)}::uuid[], ${leases.map((l) => l.lease_id)}::uuid[])
              as l (id, lease_id)
         join waiting_deliveries q on q.id = l.id and q.lease_id = l.lease_id
        order by q.id
          for update of q)`;
}

/** Deliveries that one statement cancels: with many more it would hold others up, and then run into its limit. */
const CANCELLED_MAX = 5_000;

/**
 * Cancels what waits for these subscriptions, and returns whether some of it may be left. A claimed delivery keeps its
 * lease in the history, so that an attempt under way can still be recorded, also one that outlives the lease.
 */
export async function cancelWaiting(
  db: Queryable,
  subscriptionIds: SubscriptionId[],
  now: Date,
): Promise<boolean> {
  const [{ found }] = await db<[{ found: number }]>`
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
    cancelled as (
      insert into finished_deliveries
             (id, event_id, subscription_id, organization_id, created_at, finished_at, state, attempts, last_reason, lease_id)
      select id, event_id, subscription_id, organization_id, created_at, ${now}, 'cancelled', attempts, last_reason,
             lease_id
        from gone
    )
    -- Not those that are gone: some may have been recorded just now, and yet there are more.
    select count(*)::int as found from found`;
  return found === CANCELLED_MAX;
}
