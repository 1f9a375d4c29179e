import type { Queryable } from "./database.ts";

/** An attempt that came to an outcome, and where its delivery goes. */
export interface EndedAttempt {
  id: string;
  delivery_id: string;
  lease_id: string;
  subscription_id: string;
  event_type: string;
  http_status: number;
  /** Null for a success. */
  reason: string | null;
  duration_ms: number;
  attempted_at: Date;
  state: "waiting" | "delivered" | "dead_lettered" | "cancelled";
  /** Exactly while the state is `waiting`. */
  due_at: Date | null;
}

export interface AttemptRow {
  id: string;
  delivery_id: string;
  subscription_id: string;
  event_id: string;
  event_type: string;
  attempt: number;
  http_status: number;
  reason: string | null;
  dead_lettered: boolean;
  duration_ms: number;
  attempted_at: Date;
  next_attempt_at: Date | null;
}

/**
 * Records attempts and moves their deliveries on, in one statement; a success resets its subscription's counter.
 * Answers the attempts that it recorded: one whose lease was lost is another's, even of this process, and is left alone.
 */
export async function recordAttempts(db: Queryable, ended: EndedAttempt[]): Promise<Set<string>> {
  const rows = await db<{ id: string }[]>`
    with ended as (${rowsOf(db, ended)}),
    -- Only where there is something to reset: a counter row written at every success would throttle everything.
    -- Locked before any delivery is, like everywhere: the other way round would deadlock with a deletion.
    recovering as (
      select id
        from subscriptions
       where id in (select subscription_id from ended where state = 'delivered')
         and consecutive_failures > 0 and auto_disabled_at is null and deleted_at is null
       order by id
         for no key update
    ),
    kept as (
      update waiting_deliveries q
         set attempts = q.attempts + 1, due_at = e.due_at, lease_id = null, lost_leases = 0, last_reason = e.reason
        from ended e
       where q.id = e.delivery_id and q.lease_id = e.lease_id and e.state = 'waiting'
      returning q.id, q.event_id, q.subscription_id, q.attempts, e.id as attempt_id
    ),
    gone as (
      delete from waiting_deliveries q
       using ended e
       where q.id = e.delivery_id and q.lease_id = e.lease_id and e.state <> 'waiting'
         and (select count(*) from recovering) >= 0 -- Which makes it come first.
      returning q.id, q.event_id, q.subscription_id, q.organization_id, q.created_at, q.attempts + 1 as attempts,
                q.last_reason, e.id as attempt_id, e.state, e.reason,
                e.attempted_at + e.duration_ms * interval '1 millisecond' as ended_at
    ),
    finished as (
      insert into finished_deliveries
             (id, event_id, subscription_id, organization_id, created_at, finished_at, state, attempts, last_reason)
      select id, event_id, subscription_id, organization_id, created_at, ended_at, state, attempts,
             coalesce(reason, last_reason)
        from gone
    ),
    recovered as (
      update subscriptions
         set consecutive_failures = 0
       where id in (select id from recovering)
         and id in (select subscription_id from gone where state = 'delivered')
    )
    insert into attempts
           (id, delivery_id, subscription_id, event_id, event_type, attempt, http_status, reason, dead_lettered,
            duration_ms, attempted_at, next_attempt_at)
    select e.id, q.id, q.subscription_id, q.event_id, e.event_type, q.attempts, e.http_status, e.reason,
           e.state = 'dead_lettered', e.duration_ms, e.attempted_at, e.due_at
      from (select id, subscription_id, event_id, attempts, attempt_id from kept
            union all
            select id, subscription_id, event_id, attempts, attempt_id from gone) q
      join ended e on e.id = q.attempt_id
    returning id`;
  return new Set(rows.map((row) => row.id));
}

/** Records attempts that were under way when their deliveries were cancelled. They change nothing else. */
export async function recordLateAttempts(
  db: Queryable,
  ended: EndedAttempt[],
  cancelledSince: Date,
): Promise<void> {
  await db`
    with ended as (${rowsOf(db, ended)}),
    late as (
      update finished_deliveries f
         set attempts = f.attempts + 1, last_reason = coalesce(e.reason, f.last_reason), lease_id = null
        from ended e
       where f.id = e.delivery_id and f.lease_id = e.lease_id and f.finished_at >= ${cancelledSince}
      returning f.id, f.event_id, f.subscription_id, f.attempts, e.id as attempt_id
    )
    insert into attempts
           (id, delivery_id, subscription_id, event_id, event_type, attempt, http_status, reason, dead_lettered,
            duration_ms, attempted_at, next_attempt_at)
    select e.id, l.id, l.subscription_id, l.event_id, e.event_type, l.attempts, e.http_status, e.reason, false,
           e.duration_ms, e.attempted_at, null
      from late l
      join ended e on e.id = l.attempt_id`;
}

/** As JSON, which costs us less than twelve arrays. */
function rowsOf(db: Queryable, ended: EndedAttempt[]) {
  const sorted = ended.toSorted((a, b) => (a.delivery_id < b.delivery_id ? -1 : 1));
  return db`
    select *
      from json_to_recordset(${JSON.stringify(sorted)}::text::json)
           as e (id uuid, delivery_id uuid, lease_id uuid, subscription_id uuid, event_type text, http_status int, reason text,
                 duration_ms int, attempted_at timestamptz, state text, due_at timestamptz)`;
}

/** Failed attempts of one subscription, newest first, beginning behind `after`. */
export async function listFailures(
  db: Queryable,
  subscriptionId: string,
  { after, limit }: { after: string | null; limit: number },
): Promise<AttemptRow[]> {
  return db<AttemptRow[]>`
    select * from attempts
     where subscription_id = ${subscriptionId} and reason is not null
       ${after === null ? db`` : db`and id < ${after}`}
     order by id desc
     limit ${limit}`;
}

/** More than RETRY_DELAYS can ever make. */
const ATTEMPTS_MAX = 100;

/** All attempts of one delivery, the first first. */
export async function listAttempts(db: Queryable, deliveryId: string): Promise<AttemptRow[]> {
  return db<AttemptRow[]>`
    select * from attempts where delivery_id = ${deliveryId} order by id limit ${ATTEMPTS_MAX}`;
}
