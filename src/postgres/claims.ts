import type { Ceiling } from "../domain/ceiling.ts";
import type {
  DeliveryId,
  EventId,
  LeaseId,
  OrganizationId,
  SubscriptionId,
} from "../domain/ids.ts";
import type { Share } from "../domain/slot-share.ts";
import type { Queryable } from "./database.ts";

/** The data that a dispatcher needs for an attempt. */
export interface ClaimedDelivery {
  id: DeliveryId;
  attempts: number;
  /** The number of leases in a row that ended without an outcome. */
  lostLeases: number;
  eventId: EventId;
  type: string;
  occurredAt: Date;
  data: string;
  /** The span that published the event. Null: not traced. */
  traceparent: string | null;
  subscriptionId: SubscriptionId;
  organizationId: OrganizationId;
  /** Null if the subscription is deleted: then there is no secret to sign with, and nothing to send. */
  sealedSecret: Buffer | null;
  url: string;
  active: boolean;
}

/** The token bucket of a wanted subscription, as the claim found it. */
export interface FoundCeiling extends Ceiling {
  subscriptionId: SubscriptionId;
}

/**
 * Claims due deliveries for one process. It takes the most overdue ones of each subscription up to its share, and stops at the
 * limit. If the subscription has a ceiling, each claim takes a token. The lock on the bucket makes the ceiling exact across
 * processes.
 *
 * A lease ends only by time, so the deliveries of a dead process can be claimed again without any clean-up. A claim is not
 * flushed to disk: if a crash of the database loses it, it is made again.
 */
export async function claimDue(
  db: Queryable,
  wanted: { shares: Share[]; limit: number },
  { now, leasedUntil, leaseId }: { now: Date; leasedUntil: Date; leaseId: LeaseId },
): Promise<{ claimed: ClaimedDelivery[]; ceilings: FoundCeiling[] }> {
  const ids = wanted.shares.map((s) => s.subscriptionId);
  const rows = await db<(ClaimedDelivery | (FoundCeiling & { id: null }))[]>`
    with bucket as (
      -- A clock that was ahead must not close a bucket for longer than an empty one takes to fill.
      select subscription_id, max_per_second, burst,
             least(full_at, ${now}::timestamptz + make_interval(secs => burst::float / max_per_second)) as full_at,
             burst - least(
               burst, ceil(extract(epoch from greatest(full_at - ${now}, interval '0')) * max_per_second)
             )::int as tokens
        from subscription_ceilings
       where subscription_id = any(${ids}::uuid[])
       order by subscription_id
         for update
    ),
    due as (
      select d.id
        from set_config('synchronous_commit', 'off', true),
             unnest(${ids}::uuid[], ${wanted.shares.map((s) => s.share)}::int[]) as w (subscription_id, share)
       cross join lateral (
         select q.id
           from waiting_deliveries q
          -- Bounded and ordered by both columns. Otherwise the planner may use only the index on due_at.
          where (q.subscription_id, q.due_at) >= (w.subscription_id, '-infinity'::timestamptz)
            and (q.subscription_id, q.due_at) <= (w.subscription_id, ${now}::timestamptz)
            and (q.leased_until is null or q.leased_until <= ${now})
          order by q.subscription_id, q.due_at
          limit least(w.share, (select greatest(tokens, 0) from bucket b where b.subscription_id = w.subscription_id))
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
           c.organization_id as "organizationId", c.sealed_secret as "sealedSecret", c.url, c.active,
           b.max_per_second as "maxPerSecond", b.burst, b.full_at as "fullAt", b.tokens
      from (
        select c.*, e.type, e.occurred_at, e.data, e.traceparent, s.sealed_secret, s.url,
               s.auto_disabled_at is null and s.deleted_at is null as active
          from claimed c
          join subscriptions s on s.id = c.subscription_id
         cross join lateral (select * from events where id = c.event_id limit 1) e
      ) c
      full join bucket b on false`;
  const isCeiling = (row: (typeof rows)[number]) => row.id === null;
  return { claimed: rows.filter((row) => row.id !== null), ceilings: rows.filter(isCeiling) };
}
