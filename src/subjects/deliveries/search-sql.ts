import {
  type DeliveryId,
  type EventId,
  firstIdAt,
  lastDeliveryOf,
  type OrganizationId,
  type SubscriptionId,
} from "../../lib/ids.ts";
import type { Queryable } from "../../postgres/database.ts";
import type { Fragment } from "../../postgres/driver/statement.ts";
import { DELIVERY_STATES, type DeliveryState } from "./rules.ts";
import {
  type Delivery,
  isFinishedAs,
  isOfEvent,
  selectFinished,
  selectWaiting,
  typeOf,
  withNames,
} from "./sql.ts";

export interface DeliveryFilter {
  /** Null: all. */
  subscriptionIds?: SubscriptionId[] | null;
  /** The owner of more subscriptions than a search can name. */
  crowd?: Crowd | null;
  eventId?: EventId | null;
  eventType?: string | null;
  state?: DeliveryState | null;
  reason?: string | null;
  /** Created at or after this time. */
  since?: Date | null;
  /** Created before this time. */
  until?: Date | null;
}

/** An organization, a host, or an organization's subscriptions at a host. */
interface Crowd {
  organizationId: OrganizationId | null;
  host: string | null;
}

interface Page {
  after: DeliveryId | null;
  limit: number;
}

/** Rows of the history, and of the queue, that one search reads beyond a page. */
const HISTORY_MAX = 5_000;
const QUEUE_MAX = 1_000;

/** The same without `reached`, for owners with few deliveries. */
export async function listDeliveries(
  db: Queryable,
  filter: DeliveryFilter,
  page: Page,
): Promise<Delivery[]> {
  return (await searchDeliveries(db, filter, page)).rows;
}

/**
 * Searches queue and history, newest first, after the delivery `after`. Reads a bounded number of rows. If too many of them do
 * not match, it returns fewer than `limit` rows and the id that it has `reached`. Continue after that id.
 */
export async function searchDeliveries(
  db: Queryable,
  filter: DeliveryFilter,
  page: Page,
): Promise<{ rows: Delivery[]; reached: DeliveryId | null }> {
  const found = await db<(Delivery & { reached: DeliveryId | null })[]>`
    with ${searchQueue(db, filter, page)}, ${searchHistory(db, filter, page)},
    -- Both parts are complete down to this id.
    reached as (
      select id from (select id from queue_end union all select id from history_end) e
       order by id desc
       limit 1
    ),
    page as (
      select * from (select * from queue union all select * from history) d
       where id >= coalesce((select id from reached), id)
       order by id desc
       limit ${page.limit}
    )
    select d.*, (select id from reached) as reached
      from (select) one
      left join (${withNames(db, db`select * from page`)}) d on true
     order by d.id desc`;
  const rows = found.filter(({ id }) => (id as DeliveryId | null) !== null);
  const isFull = rows.length === page.limit;
  return { rows, reached: isFull ? null : (found[0]?.reached ?? null) };
}

/** Up to this number, matching deliveries are counted exactly. The next number stands for more. */
export const COUNTED_EXACTLY = 10_000;

/** Rows that a count reads for each state. */
const COUNT_READ_MAX = 50_000;

/**
 * Counts the matching deliveries in each state, which the filter's own state does not narrow. Above `COUNTED_EXACTLY` it returns one
 * more. If it reads too many that do not match, it counts only down to the id that it has `reached`.
 */
export async function countDeliveries(
  db: Queryable,
  filter: DeliveryFilter,
): Promise<{ counts: Record<DeliveryState, number>; reached: DeliveryId | null }> {
  const found = await Promise.all(
    DELIVERY_STATES.map(async (state) => ({ state, ...(await countIn(db, { ...filter, state })) })),
  );
  const counts = Object.fromEntries(found.map(({ state, count }) => [state, count]));
  const [reached = null] = found
    .flatMap((one) => one.reached ?? [])
    .sort()
    .reverse();
  return { counts: counts as Record<DeliveryState, number>, reached };
}

/** A count does not depend on the order in which it reads. So it reads in order only if it cannot read all. */
async function countIn(
  db: Queryable,
  filter: DeliveryFilter & { state: DeliveryState },
): Promise<{ count: number; reached: DeliveryId | null }> {
  const [{ count, isCut }] = await db<[{ count: number; isCut: boolean }]>`
    with read as materialized (${all(db, filter)} limit ${COUNT_READ_MAX + 1})
    select (select count(*)::int from (
              select from read where true ${residue(db, filter)} limit ${COUNTED_EXACTLY + 1}
            ) f) as count,
           (select count(*) from read) > ${COUNT_READ_MAX} as "isCut"`;
  if (!isCut || count > COUNTED_EXACTLY) return { count, reached: null };

  const first = { after: null, limit: 1 };
  const [row] = await db<[{ count: number; reached: DeliveryId | null }]>`
    with ${searchQueue(db, filter, first, COUNT_READ_MAX)}, ${searchHistory(db, filter, first, COUNT_READ_MAX)},
    reached as (
      select id from (select id from queue_end union all select id from history_end) e
       order by id desc
       limit 1
    )
    select count(*)::int as count, (select id from reached) as reached
      from (select id from queue union all select id from history) d
     where id >= coalesce((select id from reached), id)`;
  return row;
}

/** The rows in one state that an index finds, in any order. */
function all(db: Queryable, filter: DeliveryFilter & { state: DeliveryState }): Fragment {
  const { subscriptionIds, crowd, eventId, state, reason } = filter;
  const inTime = { after: null, limit: 0 };
  if (state === "waiting") {
    const inPage = isInPage(db, filter, inTime);
    if (eventId) return db`select * from (${waitingOfEvent(db, eventId, inPage)}) w`;
    if (!subscriptionIds) return db`${selectWaiting(db)} where true ${inPage}`;
    return db`
      select w.*
        from unnest(${subscriptionIds}::uuid[]) as s (owner)
       cross join lateral (${selectWaiting(db)} where subscription_id = s.owner ${inPage}) w`;
  }
  const part = subscriptionIds && !eventId ? "second_of" : "time_of";
  const rows = (condition: Fragment) => db`
    ${selectFinished(db)}
     where ${condition}
       ${state === "delivered" ? db`` : isFinishedAs(db, reason ? null : state)}
       ${reason ? db`and last_reason = ${reason}` : db``}
       ${isFinishedInPage(db, filter, inTime, part)}`;
  if (eventId) return rows(isOfEvent(db, eventId));
  if (subscriptionIds) {
    return db`
      select f.*
        from subscriptions s
       cross join lateral (${rows(db`subscription_number = s.number`)}) f
       where s.id = any(${subscriptionIds}::uuid[])`;
  }
  const isIndexed = crowd?.organizationId && state !== "delivered" && !reason;
  return rows(isIndexed ? db`troubled_organization_id = ${crowd.organizationId}` : db`true`);
}

/** Conditions that no index serves, or not together with the others. Rows are read and checked. */
function residue(db: Queryable, filter: DeliveryFilter) {
  const { subscriptionIds, crowd, eventType, state, reason } = filter;
  const owned = (column: Fragment) => db`
    coalesce((select ${column} from subscriptions s where s.id = subscription_id),
             (select ${column} from subscriptions s where s.number = subscription_number))`;
  return db`
    ${subscriptionIds ? isOfSome(db, subscriptionIds) : db``}
    ${crowd?.organizationId ? db`and ${owned(db`s.organization_id`)} = ${crowd.organizationId}` : db``}
    ${crowd?.host ? db`and ${owned(db`s.host`)} = ${crowd.host}` : db``}
    ${eventType ? db`and ${typeOf(db)} = ${eventType}` : db``}
    ${state ? db`and state = ${state}` : db``}
    ${reason ? db`and last_reason = ${reason}` : db``}`;
}

/** Reads the subscriptions once. To look each row's up, the planner may read a small table whole for every row. */
function isOfSome(db: Queryable, ids: SubscriptionId[]): Fragment {
  const numbers = db`select number from subscriptions where id = any(${ids}::uuid[])`;
  return db`and (subscription_id = any(${ids}::uuid[]) or subscription_number in (${numbers}))`;
}

function isInPage(db: Queryable, { since, until }: DeliveryFilter, { after }: Page): Fragment {
  return db`
    ${since ? db`and id >= ${firstIdAt(since)}` : db``}
    ${until ? db`and id < ${firstIdAt(until)}` : db``}
    ${after ? db`and id < ${after}` : db``}`;
}

/** What an index holds of ids: their second if it begins with a subscription, and their millisecond otherwise. */
type IndexedPart = "second_of" | "time_of";

/** The same for finished deliveries, with the bounds that an index serves. */
function isFinishedInPage(
  db: Queryable,
  filter: DeliveryFilter,
  page: Page,
  part: IndexedPart,
): Fragment {
  const { since, until } = filter;
  const of = db(part);
  return db`
    ${isInPage(db, filter, page)}
    ${since ? db`and ${of}(id) >= ${of}(${firstIdAt(since)})` : db``}
    ${until ? db`and ${of}(id) <= ${of}(${firstIdAt(until)})` : db``}
    ${page.after ? db`and ${of}(id) <= ${of}(${page.after})` : db``}`;
}

/** The tables `history` and `history_end`: the matching rows, and the id down to which they are complete. */
function searchHistory(
  db: Queryable,
  filter: DeliveryFilter,
  page: Page,
  max = HISTORY_MAX,
): Fragment {
  const { subscriptionIds, crowd, eventId, state, reason } = filter;
  if (state === "waiting") {
    return db`history as (${selectFinished(db)} where false), history_end as (select id from history)`;
  }
  const isDelivered = state === "delivered";
  const isJudged =
    Boolean(eventId ?? filter.eventType ?? crowd ?? (reason && state)) || isDelivered;
  const owners = eventId ? null : (subscriptionIds ?? null);
  const part = owners ? "second_of" : "time_of";
  const share = isJudged ? Math.ceil(max / Math.max(1, owners?.length ?? 1)) : 0;
  const scanned = Math.max(page.limit, share);

  // An index holds an organization's dead letters and cancelled deliveries. Its others are read and checked.
  const isIndexed = crowd?.organizationId && state && !isDelivered && !reason;
  const everyone = isIndexed ? db`troubled_organization_id = ${crowd.organizationId}` : db`true`;
  const scan = (condition: Fragment) => db`
    (${selectFinished(db)}
      where ${condition}
        ${isDelivered ? db`` : isFinishedAs(db, reason ? null : state)}
        ${reason ? db`and last_reason = ${reason}` : db``}
        ${isFinishedInPage(db, filter, page, part)}
      order by ${db(part)}(id) desc, id desc
      limit ${scanned})`;
  const scans = owners
    ? db`
      select f.*
        from subscriptions s
       cross join lateral ${scan(db`subscription_number = s.number`)} f
       where s.id = any(${owners}::uuid[])`
    : scan(eventId ? isOfEvent(db, eventId) : everyone);
  return db`
    history_scan as materialized (${scans}),
    history as (select * from history_scan where true ${residue(db, filter)}),
    -- The last id of each subscription whose scan was cut off.
    history_end as (
      select min(id::text collate "C")::uuid as id
        from history_scan
       ${owners ? db`group by subscription_number` : db``}
      having count(*) = ${scanned}
    )`;
}

/** The tables `queue` and `queue_end`, in the same way. */
function searchQueue(db: Queryable, filter: DeliveryFilter, page: Page, max = QUEUE_MAX): Fragment {
  const { subscriptionIds, eventId, state } = filter;
  if (state && state !== "waiting") {
    return db`queue as (${selectWaiting(db)} where false), queue_end as (select id from queue)`;
  }
  const fits = residue(db, filter);
  const inPage = isInPage(db, filter, page);
  if (eventId) {
    const queue = db`${waitingOfEvent(db, eventId, inPage)}`;
    return db`
      queue as (select * from (${queue}) q where true ${fits}), queue_end as (select id from queue where false)`;
  }

  const newest = db`
    newest as materialized (
      ${selectWaiting(db)} where true ${inPage} order by id desc limit ${max}
    ),
    near as materialized (select * from newest where true ${fits})`;
  const end = db`
    select min(id::text collate "C")::uuid as id from newest having count(*) = ${max}`;
  if (!subscriptionIds) return db`${newest}, queue as (select * from near), queue_end as (${end})`;

  // A subscription with many waiting deliveries has some among the newest. For one with few, all are read by the index of due
  // deliveries, whose order does not help here.
  return db`
    ${newest},
    own as materialized (
      select w.*
        from unnest(${subscriptionIds}::uuid[]) as s (owner)
       cross join lateral (
         ${selectWaiting(db)} where subscription_id = s.owner
         offset 0 -- Keeps the planner from walking the ids.
       ) w
       where (select count(*) from near) < ${page.limit} and (select count(*) from newest) = ${max}
       limit ${max + 1}
    ),
    own_is_all as (
      select (select count(*) from near) < ${page.limit} and (select count(*) from newest) = ${max}
             and (select count(*) from own) <= ${max} as yes
    ),
    queue as (
      select * from near where not (select yes from own_is_all)
      union all
      select * from own where (select yes from own_is_all) ${fits} ${inPage}
    ),
    queue_end as (select id from (${end}) e where not (select yes from own_is_all))`;
}

/** The ids of an event's deliveries follow its own. An index holds its redeliveries. */
function waitingOfEvent(db: Queryable, eventId: EventId, inPage: Fragment): Fragment {
  return db`
    (${selectWaiting(db)}
      where id > ${eventId} and id <= ${lastDeliveryOf(eventId)}
        and event_id = ${eventId} ${inPage})
    union all
    (${selectWaiting(db)}
      where is_redelivery(id)
        and event_id = ${eventId} ${inPage})`;
}
