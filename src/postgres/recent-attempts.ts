import type { OrganizationId, SubscriptionId } from "../domain/ids.ts";
import type { Queryable } from "./database.ts";
import type { Fragment } from "./driver/statement.ts";

export interface RecentAttempt {
  attemptedAt: Date;
  httpStatus: number;
  /** Null if the attempt succeeded. */
  reason: string | null;
  durationMs: number;
}

/** The newest finished deliveries of a subscription, among which its successes are searched. */
const SEARCHED_MAX = 1_000;

/** The newest subscriptions of an organization whose attempts are searched. */
const SUBSCRIPTIONS_SEARCHED = 1_000;

const FIRST_ID = "00000000-0000-0000-0000-000000000000";

/**
 * Returns the newest attempts of a subscription or of an organization, newest first.
 *
 * Failures have an index. Successes are in the rows of their deliveries, so two sets are searched: the newest deliveries, and
 * those of the newest failures.
 */
export async function listRecentAttempts(
  db: Queryable,
  owner:
    { kind: "organization"; id: OrganizationId } | { kind: "subscription"; id: SubscriptionId },
  limit: number,
): Promise<RecentAttempt[]> {
  const failures = (from: Fragment, count: Fragment) => db`
    select id, delivery_id, attempted_at, http_status, reason, duration_ms
      from attempts
     where subscription_id = s.id and reason is not null and id >= ${from}
     order by id desc
     limit ${count}`;
  const successes = (from: Fragment, count: Fragment) => db`
    select id, success_id, success_http_status, success_duration_ms
      from (
        select *
          from finished_deliveries
         where subscription_id = s.id and id >= ${from}
         order by id desc
         limit ${SEARCHED_MAX}
      ) newest
     where state = 'delivered'
     limit ${count}`;
  return db<RecentAttempt[]>`
    with owned as materialized (${ownedBy(db, owner)}),
    failed as materialized (${newestOfAll(db, failures, limit)}),
    first_try as (${newestOfAll(db, successes, limit)}),
    succeeded as (
      select success_id, success_http_status, success_duration_ms from first_try
      union
      select f.success_id, f.success_http_status, f.success_duration_ms
        from (select distinct delivery_id from failed) d
        join finished_deliveries f on f.id = d.delivery_id
       where f.state = 'delivered'
    )
    select attempted_at as "attemptedAt", http_status as "httpStatus", reason, duration_ms as "durationMs"
      from (
        select id, attempted_at, http_status, reason, duration_ms from failed
        union all
        select success_id, moment_of(success_id), success_http_status, null, success_duration_ms from succeeded
      ) either
     order by id desc
     limit ${limit}`;
}

function ownedBy(db: Queryable, { kind, id }: { kind: string; id: string }): Fragment {
  if (kind === "subscription") return db`select ${id}::uuid as id`;
  return db`
    select id from subscriptions
     where organization_id = ${id} and deleted_at is null
     order by created_at desc
     limit ${SUBSCRIPTIONS_SEARCHED}`;
}

/**
 * Returns the newest rows of all subscriptions in `owned`. First it reads a few of each, four times as many as are needed. Only a
 * subscription whose few are all among the newest may have more, so it is read again.
 */
function newestOfAll(
  db: Queryable,
  rowsOfOne: (from: Fragment, count: Fragment) => Fragment,
  limit: number,
): Fragment {
  const each = db`(select ceil(${4 * limit}::int / greatest(1.0, count(*)))::int from owned)`;
  return db`
    (with few as materialized (
       select f.*, s.id as owner from owned s cross join lateral (${rowsOfOne(db`${FIRST_ID}::uuid`, each)}) f
     ),
     oldest as materialized (
       select coalesce(
         (select id from few order by id desc offset ${limit - 1} limit 1), ${FIRST_ID}::uuid) as id
     ),
     busy as materialized (
       select owner as id from few
        where id >= (select id from oldest)
        group by owner
       having count(*) = ${each}
     )
     select * from few
      where id >= (select id from oldest) and owner not in (select id from busy)
     union all
     select r.*, s.id from busy s
      cross join lateral (${rowsOfOne(db`(select id from oldest)`, db`${limit}`)}) r
      order by id desc
      limit ${limit})`;
}
