import type { AttemptId } from "../../lib/ids.ts";
import { arrayText, type Columns, type Value } from "../../postgres/array-text.ts";
import type { Queryable } from "../../postgres/database.ts";
import type { Move } from "../subscriptions/rules.ts";
import { type Attempt, auditOf } from "./rules.ts";

/**
 * Records successes: finishes their deliveries and resets the failure counters. Returns how many it recorded. If a
 * lease was lost, the delivery has a newer lease, perhaps of this process. It is not changed.
 */
export async function recordDelivered(db: Queryable, attempts: Attempt[]): Promise<number> {
  if (attempts.length === 0) return 0;
  const column = columnsOf(attempts.toSorted(byDelivery));
  const recovering = new Set(attempts.map(({ claim }) => claim.subscriptionId));
  const { count } = await db`
    with ended as (
      select *
        from unnest(${column("delivery_id")}::text::uuid[], ${column("lease_id")}::text::uuid[],
                    ${column("subscription_number")}::text::int[], ${column("http_status")}::text::int[], ${column("duration_ms")}::text::int[],
                    ${column("attempted_at")}::text::timestamptz[])
             as e (delivery_id, lease_id, subscription_number, http_status, duration_ms, attempted_at)
    ),
    -- Only subscriptions with a counter to reset: a write for every success would slow everything down.
    -- Locked before any delivery, as everywhere. The other order could deadlock with a deletion.
    recovering as (
      select id
        from subscriptions
       where id = any(${[...recovering]}::uuid[])
         and consecutive_failures > 0 and auto_disabled_at is null
         and sealed_secret is not null -- Not deleted. This condition makes the planner use the index of ids.
       order by id
         for no key update
    ),
    gone as (
      delete from waiting_deliveries q
       using ended e
       where q.id = e.delivery_id and q.lease_id = e.lease_id
         and (select count(*) from recovering) >= 0 -- Makes this read come first.
      returning q.subscription_id, q.attempts + 1 as attempts, q.last_reason, e.*
    ),
    recovered as (
      update subscriptions
         set consecutive_failures = 0
       where id in (select id from recovering)
         and id in (select subscription_id from gone)
    )
    insert into finished_deliveries (id, finished_at, subscription_number, ending, attempts, duration_ms, last_reason)
    select delivery_id, attempted_at + duration_ms * interval '1 millisecond', subscription_number, http_status, attempts,
           duration_ms, last_reason
      from gone`;
  return count;
}

/**
 * Records attempts that leave their deliveries waiting, dead-lettered or cancelled. Returns how many it recorded, like
 * `recordDelivered`.
 */
export async function recordUndelivered(db: Queryable, moves: Move[]): Promise<number> {
  if (moves.length === 0) return 0;
  const { count } = await db`
    with ended as (${rowsOf(db, moves)}),
    kept as (
      update waiting_deliveries q
         set attempts = q.attempts + 1, due_at = e.due_at, lease_id = null, leased_until = null, lost_leases = 0,
             last_reason = e.reason
        from ended e
       where q.id = e.delivery_id and q.lease_id = e.lease_id and e.state = 'waiting'
      returning q.attempts, e.*
    ),
    gone as (
      delete from waiting_deliveries q
       using ended e
       where q.id = e.delivery_id and q.lease_id = e.lease_id and e.state <> 'waiting'
      returning q.attempts + 1 as attempts, e.*, q.organization_id, q.last_reason
    ),
    finished as (
      insert into finished_deliveries
             (id, finished_at, subscription_number, ending, attempts, last_reason, troubled_organization_id)
      select delivery_id, attempted_at + duration_ms * interval '1 millisecond', subscription_number,
             case state when 'dead_lettered' then 0 else 1 end, attempts, coalesce(reason, last_reason), organization_id
        from gone
    ),
    moved as (
      select * from kept
      union all
      select attempts, id, delivery_id, lease_id, subscription_id, subscription_number, event_id, event_type, http_status, reason,
             detail, duration_ms, attempted_at, state, due_at
        from gone
    )
    insert into attempts
           (id, delivery_id, subscription_id, event_id, event_type, attempt, http_status, reason, detail, dead_lettered,
            duration_ms, attempted_at, next_attempt_at)
    select id, delivery_id, subscription_id, event_id, event_type, attempts, http_status, reason, detail,
           state = 'dead_lettered', duration_ms, attempted_at, due_at
      from moved`;
  return count;
}

/** Returns the ids of those attempts that are recorded as successes. */
export async function listDelivered(db: Queryable, attempts: Attempt[]): Promise<AttemptId[]> {
  const rows = await db<{ id: AttemptId }[]>`
    select e.id
      from unnest(${attempts.map(({ claim }) => claim.id)}::uuid[], ${attempts.map(({ id }) => id)}::uuid[])
           as e (delivery_id, id)
      join finished f on time_of(f.id) = time_of(e.delivery_id) and f.id = e.delivery_id and f.success_id = e.id`;
  return rows.map((row) => row.id);
}

/** Records successes of attempts that ran while their deliveries were cancelled: they are delivered. Returns their ids. */
export async function recordLateSuccesses(
  db: Queryable,
  attempts: Attempt[],
  cancelledSince: Date,
): Promise<AttemptId[]> {
  if (attempts.length === 0) return [];
  const column = columnsOf(attempts);
  const rows = await db<{ id: AttemptId }[]>`
    select record_late_successes(
             ${column("id")}::text::uuid[], ${column("delivery_id")}::text::uuid[], ${column("lease_id")}::text::uuid[],
             ${column("http_status")}::text::int[], ${column("duration_ms")}::text::int[],
             ${column("attempted_at")}::text::timestamptz[], ${cancelledSince}) as id`;
  return rows.map((row) => row.id);
}

/** The same for failures. Changes nothing else. */
export async function recordLateFailures(
  db: Queryable,
  attempts: Attempt[],
  cancelledSince: Date,
): Promise<AttemptId[]> {
  if (attempts.length === 0) return [];
  const moves = attempts.map((attempt): Move => ({ attempt, next: CANCELLED }));
  const rows = await db<{ id: AttemptId }[]>`
    with ended as (${rowsOf(db, moves)}),
    taken as (
      delete from cancelled_leases l using ended e where l.delivery_id = e.delivery_id and l.lease_id = e.lease_id
      returning e.*
    ),
    late as (
      update finished_deliveries f
         set attempts = f.attempts + 1, last_reason = t.reason
        from taken t
       where time_of(f.id) = time_of(t.delivery_id) and f.id = t.delivery_id and f.ending = 1
         and f.finished_at >= ${cancelledSince}
      returning f.attempts, t.*
    )
    insert into attempts
           (id, delivery_id, subscription_id, event_id, event_type, attempt, http_status, reason, detail, dead_lettered,
            duration_ms, attempted_at, next_attempt_at)
    select id, delivery_id, subscription_id, event_id, event_type, attempts, http_status, reason, detail, false,
           duration_ms, attempted_at, null
      from late
    returning id`;
  return rows.map((row) => row.id);
}

const CANCELLED = { state: "cancelled", dueAt: null } as const;

function rowsOf(db: Queryable, moves: Move[]) {
  const sorted = moves.toSorted((a, b) => byDelivery(a.attempt, b.attempt));
  const column = columnsOf(sorted.map(({ attempt }) => attempt));
  const states = arrayText(sorted.map(({ next }) => next.state));
  const dueAt = arrayText(sorted.map(({ next }) => next.dueAt));
  return db`
    select *
      from unnest(${column("id")}::text::uuid[], ${column("delivery_id")}::text::uuid[], ${column("lease_id")}::text::uuid[],
                  ${column("subscription_id")}::text::uuid[], ${column("subscription_number")}::text::int[],
                  ${column("event_id")}::text::uuid[], ${column("event_type")}::text::text[], ${column("http_status")}::text::int[], ${column("reason")}::text::text[],
                  ${column("detail")}::text::text[],
                  ${column("duration_ms")}::text::int[], ${column("attempted_at")}::text::timestamptz[],
                  ${states}::text::text[], ${dueAt}::text::timestamptz[])
           as e (id, delivery_id, lease_id, subscription_id, subscription_number, event_id, event_type, http_status, reason, detail, duration_ms, attempted_at, state, due_at)`;
}

/** Rows are written in the order of their deliveries, so that two statements cannot deadlock. */
function byDelivery(a: Attempt, b: Attempt): number {
  return a.claim.id < b.claim.id ? -1 : 1;
}

/**
 * Returns each column as an array in one text. Rows of JSON cost the database twice as much, and us as well. The column names
 * are written out, because the driver searches the whole statement for each list of names that it fills in.
 */
function columnsOf(attempts: Attempt[]): (name: keyof typeof COLUMNS) => string {
  return (name) => arrayText(attempts.map<Value>(COLUMNS[name]));
}

const COLUMNS = {
  id: ({ id }) => id,
  delivery_id: ({ claim }) => claim.id,
  lease_id: ({ claim }) => claim.leaseId,
  subscription_id: ({ claim }) => claim.subscriptionId,
  subscription_number: ({ claim }) => claim.subscriptionNumber,
  event_id: ({ claim }) => claim.eventId,
  event_type: ({ claim }) => claim.type,
  http_status: ({ outcome }) => auditOf(outcome).httpStatus,
  reason: ({ outcome }) => auditOf(outcome).reason,
  detail: ({ outcome }) => auditOf(outcome).detail,
  // Clocks step. The result always fits the column.
  duration_ms: ({ startedAt, endedAt }) =>
    Math.min(Math.max(0, endedAt.getTime() - startedAt.getTime()), 2 ** 31 - 1),
  attempted_at: ({ startedAt }) => startedAt,
} satisfies Columns<Attempt>;
