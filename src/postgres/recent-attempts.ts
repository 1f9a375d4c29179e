import type { OrganizationId, SubscriptionId } from "../domain/ids.ts";
import type { Queryable } from "./database.ts";
import type { Statement } from "./driver/statement.ts";

export interface RecentAttempt {
  attemptedAt: Date;
  httpStatus: number;
  /** Null if the attempt succeeded. */
  reason: string | null;
  durationMs: number;
}

/** Finished deliveries of a subscription to search for the newest successes. */
const SEARCHED_MAX = 1_000;

/** The newest subscriptions of an organization whose attempts are searched. */
const SUBSCRIPTIONS_SEARCHED = 1_000;

/** Returns the newest attempts of a subscription or of an organization, newest first. */
export async function listRecentAttempts(
  db: Queryable,
  owner:
    { kind: "organization"; id: OrganizationId } | { kind: "subscription"; id: SubscriptionId },
  limit: number,
): Promise<RecentAttempt[]> {
  if (owner.kind === "subscription") return newestOf(db, db`${owner.id}::uuid`, limit);
  return db<RecentAttempt[]>`
    select a.*
      from (
        select id from subscriptions
         where organization_id = ${owner.id} and deleted_at is null
         order by created_at desc
         limit ${SUBSCRIPTIONS_SEARCHED}
      ) s
     cross join lateral (${newestOf(db, db`s.id`, limit)}) a
     order by a."attemptedAt" desc
     limit ${limit}`;
}

/**
 * Failures have an index. Successes are in the rows of their deliveries, so two sets are searched: the newest deliveries, and
 * those of the newest failures.
 */
function newestOf(
  db: Queryable,
  id: Statement<unknown>,
  limit: number,
): Statement<RecentAttempt[]> {
  return db<RecentAttempt[]>`
    with failed as (
      select id, delivery_id, attempted_at, http_status, reason, duration_ms
        from attempts
       where subscription_id = ${id} and reason is not null
       order by id desc
       limit ${limit}
    ),
    finished as (
      select id, state, success_id, success_http_status, success_duration_ms
        from finished_deliveries
       where subscription_id = ${id}
       order by id desc
       limit ${SEARCHED_MAX}
    ),
    succeeded as (
      select success_id, success_http_status, success_duration_ms from finished where state = 'delivered'
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
