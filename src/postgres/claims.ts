import type { DeliveryId, EventId, OrganizationId, SubscriptionId } from "../domain/ids.ts";
import type { Queryable } from "./database.ts";

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
  organization_id: OrganizationId;
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
           c.subscription_id, c.organization_id, s.sealed_secret, s.url,
           s.auto_disabled_at is null and s.deleted_at is null as active
      from claimed c
      join subscriptions s on s.id = c.subscription_id
     cross join lateral (select * from events where id = c.event_id limit 1) e`;
}
