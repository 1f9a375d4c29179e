import {
  type AttemptId,
  type DeliveryId,
  type EventId,
  lastDeliveryOf,
  type OrganizationId,
  type SubscriptionId,
} from "../../lib/ids.ts";
import type { Queryable } from "../../postgres/database.ts";
import type { Fragment, Statement } from "../../postgres/driver/statement.ts";
import { isHeld } from "../subscriptions/sql.ts";
import type { DeliveryState } from "./rules.ts";

/** An attempt as the audit shows it. */
export interface AuditedAttempt {
  id: AttemptId;
  subscriptionId: SubscriptionId;
  eventId: EventId;
  eventType: string;
  attempt: number;
  httpStatus: number;
  reason: string | null;
  detail: string | null;
  isDeadLettered: boolean;
  durationMs: number;
  attemptedAt: Date;
  nextAttemptAt: Date | null;
}

function columns(db: Queryable) {
  return db`
    id, subscription_id as "subscriptionId", event_id as "eventId", event_type as "eventType", attempt,
    http_status as "httpStatus", reason, detail, dead_lettered as "isDeadLettered", duration_ms as "durationMs",
    attempted_at as "attemptedAt", next_attempt_at as "nextAttemptAt"`;
}

/** Returns failed attempts of a subscription, newest first, after `after`. */
export async function listFailures(
  db: Queryable,
  subscriptionId: SubscriptionId,
  { after, limit }: { after: string | null; limit: number },
): Promise<AuditedAttempt[]> {
  return db<AuditedAttempt[]>`
    select ${columns(db)} from attempts
     where subscription_id = ${subscriptionId} and reason is not null
       ${after === null ? db`` : db`and id < ${after}`}
     order by id desc
     limit ${limit}`;
}

/** More attempts than RETRY_DELAYS allows. */
const LISTED_MAX = 100;

/** Returns all attempts of a delivery, oldest first. */
export async function listAttempts(
  db: Queryable,
  deliveryId: DeliveryId,
): Promise<AuditedAttempt[]> {
  return db<AuditedAttempt[]>`
    select ${columns(db)}
      from audit
     where time_of(delivery_id) = time_of(${deliveryId}) and delivery_id = ${deliveryId}
     order by id
     limit ${LISTED_MAX}`;
}

/** The owner of the deliveries. Null: all deliveries. */
type BacklogOwner =
  | { kind: "organization"; id: OrganizationId }
  | { kind: "subscription"; id: SubscriptionId }
  | null;

/** Waiting deliveries: those that are due, those that are due later, and those of held subscriptions. */
export interface Backlog {
  due: number;
  scheduled: number;
  held: number;
  /** True if one of the numbers is an estimate. */
  estimated: boolean;
}

/** Up to this number, deliveries are counted exactly. */
export const EXACT_MAX = 10_000;

/** Counts waiting deliveries. Above `EXACT_MAX` it returns the planner's estimate. Leaves claimed deliveries out. */
export async function countBacklog(
  db: Queryable,
  owner: BacklogOwner,
  now: Date,
): Promise<Backlog> {
  const some = (waiting: Fragment, when: Fragment) => db`
    select due_at from (${waiting}) w
     where ${when} and (leased_until is null or leased_until <= ${now})
     limit ${EXACT_MAX + 1}`;
  const all = waitingOf(db, owner);
  const [counted] = await db<[{ due: number; scheduled: number; held: number; heldDue: number }]>`
    select (select count(*)::int from (${some(all, db`due_at <= ${now}`)}) d) as due,
           (select count(*)::int from (${some(all, db`due_at > ${now}`)}) s) as scheduled,
           count(*)::int as held, count(*) filter (where due_at <= ${now})::int as "heldDue"
      from (${some(heldOf(db, owner), db`true`)}) h`;
  const { held, heldDue } = counted;
  const beyond = (count: number) => count > EXACT_MAX;
  const known = async (count: number, isDue: boolean) =>
    beyond(count) ? Math.max(EXACT_MAX, await estimateRows(db, owner, now, isDue)) : count;
  return {
    due: Math.max(0, (await known(counted.due, true)) - heldDue),
    scheduled: Math.max(0, (await known(counted.scheduled, false)) - (held - heldDue)),
    held,
    estimated: [counted.due, counted.scheduled, held].some(beyond),
  };
}

/** The part of them that is of held subscriptions. */
function heldOf(db: Queryable, owner: BacklogOwner): Fragment {
  return db`
    select w.due_at, w.leased_until
      from subscription_ceilings c
      ${owner?.kind === "organization" ? db`join subscriptions s on s.id = c.subscription_id and s.organization_id = ${owner.id}` : db``}
     cross join lateral (
       select due_at, leased_until from waiting_deliveries where subscription_id = c.subscription_id
     ) w
     where c.held_at is not null
       ${owner?.kind === "subscription" ? db`and c.subscription_id = ${owner.id}` : db``}`;
}

function waitingOf(db: Queryable, owner: BacklogOwner): Statement<unknown> {
  if (owner === null) return db`select due_at, leased_until from waiting_deliveries`;
  const ofOne = (id: Statement<unknown>) =>
    db`select due_at, leased_until from waiting_deliveries where subscription_id = ${id}`;
  if (owner.kind === "subscription") return ofOne(db`${owner.id}`);
  return db`
    select w.due_at, w.leased_until
      from subscriptions s
     cross join lateral (${ofOne(db`s.id`)}) w
     where s.organization_id = ${owner.id} and s.deleted_at is null`;
}

/** Returns the planner's estimate, from the table's size and samples of its columns. EXPLAIN takes no parameters. */
async function estimateRows(
  db: Queryable,
  owner: BacklogOwner,
  now: Date,
  isDue: boolean,
): Promise<number> {
  const whose = owner === null ? "" : `and ${owner.kind}_id = '${owner.id}'`;
  const rows = await db.unsafe(
    `explain (format json)
     select from waiting_deliveries where due_at ${isDue ? "<=" : ">"} '${now.toISOString()}' ${whose}`,
  );
  const [plan] = (rows[0]?.["QUERY PLAN"] ?? []) as { Plan?: { "Plan Rows"?: number } }[];
  return plan?.Plan?.["Plan Rows"] ?? 0;
}

/** Returns the earliest due time of the deliveries that are neither claimed nor held. Null if there is none. */
export async function findNextDueOf(
  db: Queryable,
  owner: BacklogOwner,
  now: Date,
): Promise<Date | null> {
  const first = (whose: Fragment) => db`
    select due_at
      from waiting_deliveries
     where ${whose} and (leased_until is null or leased_until <= ${now})
     order by due_at
     limit 1`;
  const [row] = await db<{ due_at: Date }[]>`${firstOf(db, owner, first)}`;
  return row?.due_at ?? null;
}

function firstOf(
  db: Queryable,
  owner: BacklogOwner,
  first: (whose: Fragment) => Fragment,
): Fragment {
  if (owner?.kind === "subscription") {
    return first(db`subscription_id = ${owner.id} and not ${isHeld(db, db`subscription_id`)}`);
  }
  const firstOfEach = (subscriptions: Fragment) => db`
    select w.due_at
      from (${subscriptions}) s
     cross join lateral (${first(db`subscription_id = s.id`)}) w
     where not ${isHeld(db, db`s.id`)}
     order by w.due_at
     limit 1`;
  if (owner?.kind === "organization") {
    return firstOfEach(
      db`select id from subscriptions where organization_id = ${owner.id} and deleted_at is null`,
    );
  }
  // While something is held, the oldest deliveries may be its. So each subscription is asked.
  const isAnyHeld = db`exists (select from subscription_ceilings where held_at is not null)`;
  return db`
    with recursive waiting as (
      (select subscription_id as id from waiting_deliveries where ${isAnyHeld} order by subscription_id limit 1)
      union all
      select (select subscription_id from waiting_deliveries where subscription_id > w.id order by subscription_id limit 1)
        from waiting w
       where w.id is not null
    )
    (${first(db`not ${isAnyHeld}`)})
    union all
    (${firstOfEach(db`select id from waiting`)})`;
}

/** A waiting or finished delivery, as operators see it. */
export interface Delivery {
  id: DeliveryId;
  eventId: EventId;
  eventType: string;
  subscriptionId: SubscriptionId;
  organizationId: OrganizationId;
  state: DeliveryState;
  attempts: number;
  lastReason: string | null;
  createdAt: Date;
  dueAt: Date | null;
  finishedAt: Date | null;
  organizationSlug: string;
  url: string;
  /** The request that published the event. */
  requestId: string | null;
  redeliveryOf: DeliveryId | null;
  /** The latest redelivery. */
  redeliveredAs: DeliveryId | null;
  /** Since when an operator holds its subscription, if it waits. */
  heldAt: Date | null;
  /** Why an operator cancelled it. Null: it is not cancelled, or a rule did. */
  cancelReason: string | null;
}

/** Null if absent. */
export async function findDelivery(db: Queryable, id: DeliveryId): Promise<Delivery | null> {
  const one = db`
    ${selectWaiting(db)} where id = ${id} union all ${selectFinished(db)} where ${hasId(db, id)}`;
  const [row] = await withNames(db, one);
  return row ?? null;
}

/** Returns the redeliveries of a delivery, oldest first. */
export async function listRedeliveriesOf(
  db: Queryable,
  id: DeliveryId,
  limit: number,
): Promise<Delivery[]> {
  const ids = db`select redelivery_id as id from redelivery_marks where delivery_id = ${id} order by redelivery_id limit ${limit}`;
  const made = db`
    ${selectWaiting(db)} where id in (${ids})
    union all
    ${selectFinished(db)} where ${isAmong(db, ids)}`;
  return db<Delivery[]>`${withNames(db, made)} order by d.id`;
}

/** Adds what these deliveries belong to, which the history does not store: event, organization, subscription and redeliveries. */
export function withNames(db: Queryable, deliveries: Fragment): Statement<Delivery[]> {
  return db<Delivery[]>`
    select d.id, i.event_id as "eventId", e.type as "eventType", s.id as "subscriptionId",
           s.organization_id as "organizationId", d.state, d.attempts, d.last_reason as "lastReason",
           moment_of(d.id) as "createdAt", d.due_at as "dueAt", d.finished_at as "finishedAt",
           o.slug as "organizationSlug", s.url, coalesce(e.request_id::text, e.request_name) as "requestId",
           m.delivery_id as "redeliveryOf", r.redelivery_id as "redeliveredAs", c.held_at as "heldAt",
           x.reason as "cancelReason"
      from (${deliveries}) d
      left join redelivery_marks m on m.redelivery_id = d.id
     cross join lateral (select coalesce(m.event_id, event_of(d.id)) as event_id) i
      left join lateral (select type, request_id, request_name from events where id = i.event_id limit 1) e on true
      left join lateral (
        select id, organization_id, url from subscriptions where id = d.subscription_id
        union all
        select id, organization_id, url from subscriptions where number = d.subscription_number
      ) s on true
      left join organizations o on o.id = s.organization_id
      left join cancel_reasons x on x.delivery_id = d.id and d.state = 'cancelled'
      left join subscription_ceilings c on c.subscription_id = s.id and d.state = 'waiting'
      left join lateral (
        select redelivery_id from redelivery_marks where delivery_id = d.id order by redelivery_id desc limit 1
      ) r on true`;
}

export function selectWaiting(db: Queryable): Fragment {
  return db`
    select id, subscription_id, null::integer as subscription_number, 'waiting' as state, attempts, last_reason,
           due_at, null::timestamptz as finished_at
      from waiting_deliveries`;
}

export function selectFinished(db: Queryable): Fragment {
  return db`
    select id, null::uuid as subscription_id, subscription_number, ${stateOf(db)} as state,
           attempts, last_reason, null::timestamptz as due_at, finished_at
      from finished_deliveries`;
}

export function stateOf(db: Queryable): Fragment {
  return db`case ending when 0 then 'dead_lettered' when 1 then 'cancelled' else 'delivered' end`;
}

/** The event of the delivery `id`. */
export function eventOf(db: Queryable): Fragment {
  return db`coalesce((select m.event_id from redelivery_marks m where m.redelivery_id = id), event_of(id))`;
}

/** The type of its event. */
export function typeOf(db: Queryable): Fragment {
  return db`(select e.type from (select ${eventOf(db)} as event_id) i join events e on e.id = i.event_id limit 1)`;
}

/** True for the finished delivery with this id. The index holds the time of each. */
export function hasId(db: Queryable, id: DeliveryId): Fragment {
  return db`(time_of(id) = time_of(${id}) and id = ${id})`;
}

/** True for finished deliveries whose ids this query returns. */
function isAmong(db: Queryable, ids: Fragment): Fragment {
  return db`(time_of(id) = any(array(select time_of(id) from (${ids}) i)) and id in (${ids}))`;
}

/** True for finished deliveries of an event. One condition on the time, so that the planner has nothing to combine. */
export function isOfEvent(db: Queryable, event: EventId): Fragment {
  const redeliveries = db`select redelivery_id as id from redelivery_marks where event_id = ${event}`;
  const last = lastDeliveryOf(event);
  return db`(
    time_of(id) = any(array(select time_of(id) from (${redeliveries} union all select ${event}::uuid) i))
    and (id > ${event} and id <= ${last} or id in (${redeliveries})))`;
}

/** Spells the state out, so that the planner sees which partial index applies. No index holds only delivered ones. */
export function isFinishedAs(db: Queryable, state: DeliveryState | null | undefined): Fragment {
  if (state === "dead_lettered") return db`and ending = 0`;
  if (state === "cancelled") return db`and ending = 1`;
  return db``;
}

interface RecentAttempt {
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
 * those of the newest failures. An index holds the second of each delivery, so the rest of a second is read with it.
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
    select id, ending, duration_ms, finished_at
      from (
        select *, second_of(id) as second
          from finished_deliveries
         where subscription_number = s.number and second_of(id) >= second_of(${from}) and id >= ${from}
         order by second desc
         fetch first ${SEARCHED_MAX} rows with ties
      ) newest
     where ending >= 200
     order by second desc
     fetch first ${count} rows with ties`;
  return db<RecentAttempt[]>`
    with owned as materialized (${ownedBy(db, owner)}),
    failed as materialized (${newestOfAll(db, failures, limit)}),
    first_try as (${newestOfAll(db, successes, limit)}),
    succeeded as (
      select id, ending, duration_ms, finished_at from first_try
      union
      select f.id, f.ending, f.duration_ms, f.finished_at
        from (select distinct delivery_id from failed) d
        join finished_deliveries f on time_of(f.id) = time_of(d.delivery_id) and f.id = d.delivery_id
       where f.ending >= 200
    )
    select attempted_at as "attemptedAt", http_status as "httpStatus", reason, duration_ms as "durationMs"
      from (
        select attempted_at, http_status, reason, duration_ms from failed
        union all
        select finished_at - duration_ms * interval '1 ms', ending, null, duration_ms from succeeded
      ) either
     order by attempted_at desc
     limit ${limit}`;
}

function ownedBy(db: Queryable, { kind, id }: { kind: string; id: string }): Fragment {
  if (kind === "subscription") return db`select id, number from subscriptions where id = ${id}`;
  return db`
    select id, number from subscriptions
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
       select f.*, s.id as owner, s.number as owner_number from owned s cross join lateral (${rowsOfOne(db`${FIRST_ID}::uuid`, each)}) f
     ),
     oldest as materialized (
       select coalesce(
         (select id from few order by id desc offset ${limit - 1} limit 1), ${FIRST_ID}::uuid) as id
     ),
     busy as materialized (
       select owner as id, owner_number as number from few
        where id >= (select id from oldest)
        group by owner, owner_number
       having count(*) >= ${each}
     )
     select * from few
      where id >= (select id from oldest) and owner not in (select id from busy)
     union all
     select r.*, s.id, s.number from busy s
      cross join lateral (${rowsOfOne(db`(select id from oldest)`, db`${limit}`)}) r
      order by id desc
      limit ${limit})`;
}
