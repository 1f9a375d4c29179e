import type { DueSubscription } from "../domain/due-notice.ts";
import type { OrganizationId, SubscriptionId } from "../domain/ids.ts";
import type { Queryable } from "./database.ts";

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
export interface Scan {
  /** Subscriptions with something due that is not claimed, in order of id. */
  due: DueSubscription[];
  /** Where the next scan continues. Null: this one reached the end. */
  upTo: string | null;
}

/**
 * Finds the subscriptions after `after` that have something due.
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
