import {
  type DeliveryId,
  type EventId,
  firstIdAt,
  type OrganizationId,
  type RedeliveryId,
  type SubscriptionId,
} from "../../lib/ids.ts";
import type { Queryable } from "../../postgres/database.ts";
import { eventOf, isFinishedAs, isOfEvent, stateOf, typeOf } from "../deliveries/sql.ts";
import type { Action, RedeliverableState, RedeliveryState } from "./rules.ts";

/** The deliveries that a job sends again. */
export interface RedeliveryFilter {
  organizationId: OrganizationId;
  subscriptionId: SubscriptionId | null;
  /** Null: dead-lettered and cancelled. */
  deliveryState: RedeliverableState | null;
  reason: string | null;
  eventId: EventId | null;
  eventType: string | null;
  since: Date | null;
  until: Date | null;
}

interface NewJob extends RedeliveryFilter {
  id: RedeliveryId;
  action: Action;
  /** Why the deliveries are cancelled. Null: the job does not cancel. */
  cancelReason: string | null;
  createdBy: string;
  createdAt: Date;
  /** Null: each to its own subscription. */
  toSubscriptionId: SubscriptionId | null;
  ratePerSecond: number;
  /** The number of matching deliveries. A job that finds more raises it. */
  total: number;
  /** The virtual transactions that the job waits for. */
  openWriters: string[];
}

/** Where a job goes on: after this delivery, in this part of the history. */
export interface JobPosition {
  atSubscription: SubscriptionId | null;
  atState: RedeliverableState | null;
  atDelivery: DeliveryId | null;
}

export interface Job extends Omit<NewJob, "openWriters">, JobPosition {
  state: RedeliveryState;
  done: number;
  skipped: number;
  failed: number;
  finishedAt: Date | null;
  writtenAt: Date | null;
}

function columns(db: Queryable) {
  return db`
    id, action, cancel_reason as "cancelReason", organization_id as "organizationId", subscription_id as "subscriptionId",
    delivery_state as "deliveryState", reason, event_id as "eventId", event_type as "eventType", since, until, created_by as "createdBy",
    created_at as "createdAt", to_subscription_id as "toSubscriptionId", rate_per_second as "ratePerSecond", total,
    at_subscription as "atSubscription", at_state as "atState", at_delivery as "atDelivery", state, done, skipped,
    failed, finished_at as "finishedAt", written_at as "writtenAt"`;
}

/** Makes this transaction the only one that works on jobs, until it ends. Returns false if another one is. */
export async function tryLockJobs(tx: Queryable): Promise<boolean> {
  const [{ locked }] = await tx<[{ locked: boolean }]>`
    select pg_try_advisory_xact_lock(hashtext('partner-api redeliveries of ' || current_schema())) as locked`;
  return locked;
}

/** Like `tryLockJobs`, but waits for the transaction that works on jobs. */
export async function lockJobs(tx: Queryable): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtext('partner-api redeliveries of ' || current_schema()))`;
}

export async function countUnfinishedJobs(db: Queryable): Promise<number> {
  const [{ count }] = await db<[{ count: number }]>`
    select count(*)::int as count from redelivery_jobs where finished_at is null`;
  return count;
}

const WRITERS_MAX = 1_000;

/**
 * Returns the transactions that may be recording outcomes. An outcome of theirs can be older than a job that is created now, so
 * the job begins when they have ended.
 */
export async function listWriters(db: Queryable): Promise<string[]> {
  const rows = await db<{ virtualtransaction: string }[]>`
    select distinct virtualtransaction from pg_locks w where ${isWriter(db)} limit ${WRITERS_MAX}`;
  return rows.map((row) => row.virtualtransaction);
}

/** A transaction that records outcomes locks rows of subscriptions first, or writes to the history at once. */
function isWriter(db: Queryable) {
  return db`
    w.locktype = 'relation' and w.relation in ('subscriptions'::regclass, 'finished_deliveries'::regclass)
    and w.database = (select oid from pg_database where datname = current_database())
    and w.mode in ('RowShareLock', 'RowExclusiveLock')`;
}

export async function insertJob(db: Queryable, job: NewJob): Promise<Job> {
  const [row] = await db<[Job]>`
    insert into redelivery_jobs (id, action, cancel_reason, organization_id, subscription_id, delivery_state, reason, event_id, event_type,
                                 since, until, created_by, created_at, to_subscription_id, rate_per_second, total,
                                 open_writers, state, next_at)
    values (${job.id}, ${job.action}, ${job.cancelReason}, ${job.organizationId}, ${job.subscriptionId}, ${job.deliveryState}, ${job.reason},
            ${job.eventId}, ${job.eventType}, ${job.since}, ${job.until}, ${job.createdBy}, ${job.createdAt},
            ${job.toSubscriptionId}, ${job.ratePerSecond}, ${job.total}, ${job.openWriters}, 'queued', ${job.createdAt})
    returning ${columns(db)}`;
  return row;
}

/** Null if absent. */
export async function findJob(db: Queryable, id: RedeliveryId): Promise<Job | null> {
  const [row] = await db<Job[]>`
    select ${columns(db)} from redelivery_jobs where id = ${id}`;
  return row ?? null;
}

/** Returns jobs, newest first, after `after`. */
export async function listJobs(
  db: Queryable,
  { after, limit }: { after: RedeliveryId | null; limit: number },
): Promise<Job[]> {
  return db<Job[]>`
    select ${columns(db)} from redelivery_jobs
     where true ${after === null ? db`` : db`and id < ${after}`}
     order by id desc
     limit ${limit}`;
}

/**
 * Returns the next job to work on, locked, or null. A job waits for the writers that were open at its creation. A queued job
 * also waits for running and for earlier queued jobs that read from or write to the same subscription.
 */
export async function lockNextJob(tx: Queryable, now: Date): Promise<Job | null> {
  const [row] = await tx<Job[]>`
    select ${columns(tx)}
      from redelivery_jobs j
     where j.finished_at is null and j.state in ('queued', 'running') and j.next_at <= ${now}
       and (j.open_writers = '{}' or not exists (
         select from pg_locks w where ${isWriter(tx)} and w.virtualtransaction = any(j.open_writers)))
       and (j.state = 'running' or not exists (
         select from redelivery_jobs o
          where o.finished_at is null and o.id <> j.id
            and (o.state = 'running' or o.state = 'queued' and o.id < j.id)
            and ${overlaps(tx)}))
     order by j.next_at, j.id
     limit 1
       for no key update of j`;
  return row ?? null;
}

/** Returns true if a running job prevents this one from running. Lock this one first. */
export async function isJobBlocked(tx: Queryable, id: RedeliveryId): Promise<boolean> {
  const [{ blocked }] = await tx<[{ blocked: boolean }]>`
    select exists (
      select from redelivery_jobs j
        join redelivery_jobs o on o.finished_at is null and o.id <> j.id and o.state = 'running' and ${overlaps(tx)}
       where j.id = ${id}) as blocked`;
  return blocked;
}

/** True if jobs `j` and `o` have a subscription in common. */
function overlaps(db: Queryable) {
  return db`
    o.organization_id = j.organization_id
    and (o.subscription_id is null or j.subscription_id is null
         or o.subscription_id in (j.subscription_id, j.to_subscription_id)
         or o.to_subscription_id in (j.subscription_id, j.to_subscription_id))`;
}

/** Returns true if `lockNextJob` can find a job, now or soon. */
export async function hasOpenJobs(db: Queryable): Promise<boolean> {
  const [{ found }] = await db<[{ found: boolean }]>`
    select exists (
      select from redelivery_jobs where finished_at is null and state in ('queued', 'running')) as found`;
  return found;
}

/** Locks the job's row until the transaction ends. Null if absent. */
export async function lockJob(tx: Queryable, id: RedeliveryId): Promise<Job | null> {
  const [row] = await tx<Job[]>`
    select ${columns(tx)} from redelivery_jobs where id = ${id} for no key update`;
  return row ?? null;
}

export async function updateJobState(
  db: Queryable,
  id: RedeliveryId,
  { state, finishedAt }: { state: RedeliveryState; finishedAt: Date | null },
): Promise<Job> {
  const [row] = await db<[Job]>`
    update redelivery_jobs set state = ${state}, finished_at = ${finishedAt} where id = ${id}
    returning ${columns(db)}`;
  return row;
}

/** The changes of one run. */
type JobProgress = JobPosition &
  Pick<Job, "state" | "done" | "skipped" | "failed" | "finishedAt" | "writtenAt"> & {
    nextAt: Date;
  };

export async function recordProgress(
  tx: Queryable,
  id: RedeliveryId,
  p: JobProgress,
): Promise<void> {
  await tx`
    update redelivery_jobs
       set state = ${p.state}, done = ${p.done}, skipped = ${p.skipped}, failed = ${p.failed},
           total = case when ${p.state}::text = 'finished' then ${p.done + p.skipped + p.failed}
                        else greatest(total, ${p.done + p.skipped + p.failed}) end,
           finished_at = ${p.finishedAt}, written_at = ${p.writtenAt}, next_at = ${p.nextAt},
           at_subscription = ${p.atSubscription}, at_state = ${p.atState}, at_delivery = ${p.atDelivery}
     where id = ${id}`;
}

/** A finished delivery and its redelivery. */
interface Redelivered {
  deliveryId: DeliveryId;
  /** The new delivery. */
  redeliveryId: DeliveryId;
  eventId: EventId;
}

/**
 * Creates new deliveries of the events of finished ones, for one subscription, and marks the old ones. The statement also reads
 * the events, so none can be dropped in between. Returns the deliveries that were sent again: those whose event still exists.
 */
export async function insertRedeliveries(
  db: Queryable,
  rows: Redelivered[],
  { to, job, now }: { to: SubscriptionId; job: RedeliveryId | null; now: Date },
): Promise<DeliveryId[]> {
  const made = await db<{ delivery_id: DeliveryId }[]>`
    with wanted as (
      select *
        from unnest(${rows.map((row) => row.deliveryId)}::uuid[], ${rows.map((row) => row.redeliveryId)}::uuid[],
                    ${rows.map((row) => row.eventId)}::uuid[]) as w (delivery_id, redelivery_id, event_id)
    ),
    made as (
      insert into waiting_deliveries (id, event_id, subscription_id, organization_id, due_at)
      select w.redelivery_id, e.id, ${to}, s.organization_id, ${now}
        from wanted w
        join events e on e.id = w.event_id
        join subscriptions s on s.id = ${to}
      returning id
    )
    insert into redelivery_marks (redelivery_id, delivery_id, event_id, job_id)
    select w.redelivery_id, w.delivery_id, w.event_id, ${job} from wanted w join made m on m.id = w.redelivery_id
    returning delivery_id`;
  return made.map((row) => row.delivery_id);
}

/** Returns the deliveries that were already sent again. */
export async function listRedelivered(db: Queryable, ids: DeliveryId[]): Promise<DeliveryId[]> {
  const rows = await db<{ delivery_id: DeliveryId }[]>`
    select distinct delivery_id from redelivery_marks where delivery_id = any(${ids}::uuid[])`;
  return rows.map((row) => row.delivery_id);
}

/**
 * Locks finished deliveries until the transaction ends, so that only this transaction redelivers them. Marks are written only
 * under this lock, so look for them after it.
 */
export async function lockFinished(
  db: Queryable,
  rows: { id: DeliveryId; finishedAt: Date }[],
): Promise<void> {
  await db`
    select f.id
      from unnest(${rows.map((row) => row.id)}::uuid[], ${rows.map((row) => row.finishedAt.toISOString())}::timestamptz[])
           as w (id, finished_at)
      join finished_deliveries f on time_of(f.id) = time_of(w.id) and f.id = w.id and f.finished_at = w.finished_at
     order by f.id
       for no key update of f`;
}

/** A finished delivery that a job examines. */
export interface PassedDelivery {
  id: DeliveryId;
  eventId: EventId;
  finishedAt: Date;
  /** True if the job redelivers it. */
  fits: boolean;
}

/** Deliveries that one statement examines. */
export const PASSED_MAX = 1_000;

/** Returns deliveries of one subscription in one state, oldest first, after `after`. */
export async function listPassed(
  db: Queryable,
  filter: RedeliveryFilter & { createdAt: Date },
  position: { subscriptionId: SubscriptionId; state: RedeliverableState; after: DeliveryId | null },
): Promise<PassedDelivery[]> {
  return db<PassedDelivery[]>`
    with passed as materialized (
      select id, finished_at, ${stateOf(db)} as state
        from finished_deliveries
       where subscription_number = (select number from subscriptions where id = ${position.subscriptionId})
         ${isFinishedAs(db, position.state)} ${narrowed(db, filter)}
         ${position.after === null ? db`` : db`and second_of(id) >= second_of(${position.after}) and id > ${position.after}`}
       order by second_of(id), id
       limit ${PASSED_MAX}
    )
    select id, ${eventOf(db)} as "eventId", finished_at as "finishedAt", ${fitting(db, filter, position.state)} as fits
      from passed
     order by id`;
}

/** Deliveries that a count reads. Each may also be looked up among the events and the marks. */
export const COUNTED_MAX = 50_000;

/**
 * Counts matching deliveries, and how many of them were already sent again. Reads a bounded number. `isCut`: there are more to
 * read.
 */
export async function countMatching(
  db: Queryable,
  filter: RedeliveryFilter & { createdAt: Date },
  { subscriptionIds, states }: { subscriptionIds: SubscriptionId[]; states: RedeliverableState[] },
): Promise<{ count: number; redelivered: number; isCut: boolean }> {
  const parts = states.map(
    (state) => db`
      (select f.id, ${fitting(db, filter, state)} as fits
         from (select number from subscriptions where id = any(${subscriptionIds}::uuid[])) s
        cross join lateral (
          select id, finished_at, ${stateOf(db)} as state
            from finished_deliveries
           where subscription_number = s.number ${isFinishedAs(db, state)} ${narrowed(db, filter)}
        ) f
        limit ${COUNTED_MAX + 1})`,
  );
  const [row] = await db<[{ count: number; redelivered: number; isCut: boolean }]>`
    with passed as materialized (
      select * from (${parts.reduce((one, other) => db`${one} union all ${other}`)}) p limit ${COUNTED_MAX + 1}
    )
    select count(*) filter (where fits)::int as count,
           count(*) filter (where fits and ${isMarked(db)})::int as redelivered,
           count(*) > ${COUNTED_MAX} as "isCut"
      from passed`;
  return row;
}

/** A value in place of EXISTS, for which the planner may read all redelivery marks. */
function isMarked(db: Queryable) {
  return db`
    (select redelivery_id from redelivery_marks m where m.delivery_id = passed.id limit 1) is not null`;
}

/** Returns the next subscription of an organization by id, even a deleted one. Null after the last one. */
export async function findNextSubscription(
  db: Queryable,
  organizationId: OrganizationId,
  after: SubscriptionId | null,
): Promise<SubscriptionId | null> {
  const [row] = await db<{ id: SubscriptionId }[]>`
    select id from subscriptions
     where organization_id = ${organizationId} ${after === null ? db`` : db`and id > ${after}`}
     order by id
     limit 1`;
  return row?.id ?? null;
}

/** Conditions that an index of a subscription serves. */
function narrowed(db: Queryable, { reason, eventId, since, until }: RedeliveryFilter) {
  return db`
    ${reason ? db`and last_reason = ${reason}` : db``}
    ${eventId ? db`and ${isOfEvent(db, eventId)}` : db``}
    ${since ? db`and second_of(id) >= second_of(${firstIdAt(since)}) and id >= ${firstIdAt(since)}` : db``}
    ${until ? db`and second_of(id) <= second_of(${firstIdAt(until)}) and id < ${firstIdAt(until)}` : db``}`;
}

/** Conditions that are checked row by row. A delivery that finished after the job was created may be the job's own. */
function fitting(
  db: Queryable,
  { eventType, createdAt }: RedeliveryFilter & { createdAt: Date },
  state: RedeliverableState,
) {
  return db`
    (state = ${state} and finished_at < ${createdAt}
     ${eventType ? db`and ${typeOf(db)} = ${eventType}` : db``})`;
}
