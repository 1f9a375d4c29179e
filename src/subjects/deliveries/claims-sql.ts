import type {
  DeliveryId,
  EventId,
  LeaseId,
  OrganizationId,
  SubscriptionId,
} from "../../lib/ids.ts";
import type { Queryable } from "../../postgres/database.ts";
import type { DueSubscription, Quota } from "../../queue/rules.ts";
import type { Ceiling } from "../subscriptions/rules.ts";
import { isHeld } from "../subscriptions/sql.ts";

/** The data that a dispatcher needs for an attempt. */
export interface ClaimedDelivery {
  id: DeliveryId;
  attempts: number;
  /** The number of leases in a row that ended without an outcome. */
  lostLeases: number;
  eventId: EventId;
  type: string;
  /** Null: when it was published. */
  occurredAt: Date | null;
  data: string;
  /** The span that published the event. Null: not traced. */
  traceparent: string | null;
  subscriptionId: SubscriptionId;
  subscriptionNumber: number;
  organizationId: OrganizationId;
  /** Null if the subscription is deleted: then there is no secret to sign with, and nothing to send. */
  sealedSecret: Buffer | null;
  url: string;
  active: boolean;
}

/** The token bucket of a wanted subscription, as the claim found it. */
export interface FoundCeiling extends Ceiling {
  subscriptionId: SubscriptionId;
  /** True if an operator holds the subscription. Then there are no tokens, and the rest may be null. */
  isHeld: boolean;
}

/**
 * Claims due deliveries for one process. It takes the most overdue ones of each subscription up to its quota, and stops at the
 * limit. If the subscription has a ceiling, each claim takes a token. The lock on the bucket makes the ceiling exact across
 * processes. A held subscription has no tokens.
 *
 * A lease ends only by time, so the deliveries of a dead process can be claimed again without any clean-up. A claim is not
 * flushed to disk: if a crash of the database loses it, it is made again.
 */
export async function claimDue(
  db: Queryable,
  wanted: { quotas: Quota[]; limit: number },
  { now, leasedUntil, leaseId }: { now: Date; leasedUntil: Date; leaseId: LeaseId },
): Promise<{ claimed: ClaimedDelivery[]; ceilings: FoundCeiling[] }> {
  const ids = wanted.quotas.map((one) => one.subscriptionId);
  const rows = await db<(ClaimedDelivery | (FoundCeiling & { id: null }))[]>`
    with bucket as (
      -- A clock that was ahead must not close a bucket for longer than an empty one takes to fill.
      select subscription_id, max_per_second, burst, held_at is not null as held,
             least(full_at, ${now}::timestamptz + make_interval(secs => burst::float / max_per_second)) as full_at,
             case when held_at is not null then 0
                  else burst - least(
                    burst, ceil(extract(epoch from greatest(full_at - ${now}, interval '0')) * max_per_second)
                  )::int
             end as tokens
        from subscription_ceilings
       where subscription_id = any(${ids}::uuid[])
       order by subscription_id
         for update
    ),
    due as (
      select d.id
        from set_config('synchronous_commit', 'off', true),
             unnest(${ids}::uuid[], ${wanted.quotas.map((one) => one.quota)}::int[]) as w (subscription_id, quota)
       cross join lateral (
         select q.id
           from waiting_deliveries q
          -- Bounded and ordered by both columns. Otherwise the planner may use only the index on due_at.
          where (q.subscription_id, q.due_at) >= (w.subscription_id, '-infinity'::timestamptz)
            and (q.subscription_id, q.due_at) <= (w.subscription_id, ${now}::timestamptz)
            and (q.leased_until is null or q.leased_until <= ${now})
          order by q.subscription_id, q.due_at
          limit least(w.quota, (select greatest(tokens, 0) from bucket b where b.subscription_id = w.subscription_id))
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
    ),
    spent as (
      update subscription_ceilings c
         set full_at = greatest(b.full_at, ${now})
                       + make_interval(secs => ceil(t.tokens * 1000000.0 / b.max_per_second)::float / 1000000)
        from bucket b
        join (select subscription_id, count(*) as tokens from claimed group by subscription_id) t using (subscription_id)
       where c.subscription_id = b.subscription_id
    )
    select c.id, c.attempts, c.lost_leases as "lostLeases", c.event_id as "eventId", c.type, c.occurred_at as "occurredAt",
           c.data, c.traceparent, coalesce(c.subscription_id, b.subscription_id) as "subscriptionId",
           c.number as "subscriptionNumber", c.organization_id as "organizationId", c.sealed_secret as "sealedSecret", c.url, c.active,
           b.max_per_second as "maxPerSecond", b.burst, b.full_at as "fullAt", b.tokens, b.held as "isHeld"
      from (
        select c.*, e.type, e.occurred_at, e.data, e.traceparent, s.number, s.sealed_secret, s.url,
               s.auto_disabled_at is null and s.deleted_at is null as active
          from claimed c
          join subscriptions s on s.id = c.subscription_id
         cross join lateral (select * from events where id = c.event_id limit 1) e
      ) c
      full join bucket b on false`;
  const isCeiling = (row: (typeof rows)[number]) => row.id === null;
  return { claimed: rows.filter((row) => row.id !== null), ceilings: rows.filter(isCeiling) };
}

/** Subscriptions with waiting deliveries that one scan passes. */
const HOPS_MAX = 5_000;

interface EarliestRow {
  subscription_id: SubscriptionId;
  organization_id: OrganizationId;
  is_due: boolean;
  /** The number of subscriptions that the scan has passed. */
  hop: number;
}

/** The result of one scan of the queue. */
interface Scan {
  /** Subscriptions with something due that is not claimed, in order of id. */
  due: DueSubscription[];
  /** Where the next scan continues. Null: this one reached the end. */
  upTo: string | null;
}

/**
 * Finds the subscriptions after `after` that have something due and are not held.
 *
 * It skips from the earliest delivery of one subscription to that of the next. So the cost depends on the number of waiting
 * subscriptions and of leases, not on the backlog. It costs nothing while nothing is due.
 */
export async function listDueSubscriptions(
  db: Queryable,
  { now, after, limit }: { now: Date; after: string | null; limit: number },
): Promise<Scan> {
  const found = await db<EarliestRow[]>`
    with recursive earliest as (
      (select subscription_id, organization_id, due_at, leased_until, 1 as hop
         from waiting_deliveries
        where exists (select from waiting_deliveries where due_at <= ${now})
          and subscription_id > ${after ?? NO_ID}
        order by subscription_id, due_at
        limit 1)
      union all
      select n.subscription_id, n.organization_id, n.due_at, n.leased_until, e.hop + 1
        from earliest e
       cross join lateral (
         select subscription_id, organization_id, due_at, leased_until
           from waiting_deliveries
          where subscription_id > e.subscription_id
          order by subscription_id, due_at
          limit 1
       ) n
       where e.hop < ${HOPS_MAX}
    )
    select subscription_id, organization_id, is_due, hop
      from earliest e
     cross join lateral (
       select due_at <= ${now}
              and not ${isHeld(db, db`e.subscription_id`)}
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
  // The server may return them in any order. ORDER BY would let it pass all subscriptions before the limit counts.
  const rows = found.toSorted((one, other) => one.hop - other.hop);
  const last = rows.at(-1);
  const isCutShort = rows.length === limit || last?.hop === HOPS_MAX;
  return {
    due: rows
      .filter((row) => row.is_due)
      .map((row) => ({
        subscriptionId: row.subscription_id,
        organizationId: row.organization_id,
      })),
    upTo: isCutShort ? (last?.subscription_id ?? null) : null,
  };
}

const NO_ID = "00000000-0000-0000-0000-000000000000";

/** A delivery and its lease. */
interface Lease {
  id: DeliveryId;
  leaseId: LeaseId;
}

/**
 * Locks the deliveries whose lease is still valid, in one order. Returns each with its lease. This protects against a process
 * that slept, and that may have claimed the delivery again since.
 */
export async function lockHeld(db: Queryable, leases: Lease[]): Promise<Map<DeliveryId, LeaseId>> {
  const rows = await db<{ id: DeliveryId; lease_id: LeaseId }[]>`
    select q.id, q.lease_id
      from unnest(${leases.map((l) => l.id)}::uuid[], ${leases.map((l) => l.leaseId)}::uuid[])
           as l (id, lease_id)
      join waiting_deliveries q on q.id = l.id and q.lease_id = l.lease_id
     order by q.id
       for update of q`;
  return new Map(rows.map((row) => [row.id, row.lease_id]));
}

/** Releases the leases that are still valid, without an attempt. */
export async function releaseLeases(db: Queryable, leases: Lease[], dueAt: Date): Promise<void> {
  await db`
    update waiting_deliveries
       set due_at = ${dueAt}, lease_id = null, leased_until = null, lost_leases = 0
     where id = any(array(
       select q.id
         from unnest(${leases.map((l) => l.id)}::uuid[], ${leases.map((l) => l.leaseId)}::uuid[])
              as l (id, lease_id)
         join waiting_deliveries q on q.id = l.id and q.lease_id = l.lease_id
        order by q.id
          for update of q))`;
}
