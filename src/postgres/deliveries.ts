import type { DeliveryState } from "../domain/delivery.ts";
import type { DeliveryId, EventId, OrganizationId, SubscriptionId } from "../domain/ids.ts";
import type { Queryable } from "./database.ts";
import type { Statement } from "./driver/statement.ts";

type Fragment = Statement<unknown>;

/** A delivery as the operator sees it, waiting or finished. */
export interface DeliveryRow {
  id: DeliveryId;
  event_id: EventId;
  event_type: string;
  subscription_id: SubscriptionId;
  organization_id: OrganizationId;
  state: DeliveryState;
  attempts: number;
  last_reason: string | null;
  created_at: Date;
  due_at: Date | null;
  finished_at: Date | null;
}

export interface DeliveryFilter {
  organizationId?: OrganizationId | null;
  subscriptionId?: SubscriptionId | null;
  eventId?: EventId | null;
  eventType?: string | null;
  state?: DeliveryState | null;
  reason?: string | null;
  /** Created at or after. */
  since?: Date | null;
  /** Created before. */
  until?: Date | null;
}

/** Newest first, beginning behind the delivery `after`. */
export async function listDeliveries(
  db: Queryable,
  filter: DeliveryFilter,
  { after, limit }: { after: string | null; limit: number },
): Promise<DeliveryRow[]> {
  const { organizationId, subscriptionId, eventId, eventType, state, reason, since, until } =
    filter;
  const fits = db`
    ${organizationId ? db`and organization_id = ${organizationId}` : db``}
    ${subscriptionId ? db`and subscription_id = ${subscriptionId}` : db``}
    ${eventId ? db`and event_id = ${eventId}` : db``}
    ${eventType ? db`and exists (select from events where id = event_id and type = ${eventType})` : db``}
    ${reason ? db`and last_reason = ${reason}` : db``}`;
  const isInPage = db`
    ${since ? db`and id >= first_id_at(${since})` : db``}
    ${until ? db`and id < first_id_at(${until})` : db``}
    ${after ? db`and id < ${after}` : db``}`;
  const matches = db`${fits} ${isInPage} order by id desc limit ${limit}`;

  const finishedOf = (subscription: Fragment) =>
    db`${selectFinished(db)} where ${subscription} and ${isFinishedAs(db, state)} ${matches}`;
  const isNarrow = subscriptionId ?? eventId ?? reason ?? (state && state !== "delivered");
  // No index leads from an organization to its history, but one leads there from each of its subscriptions.
  const finished =
    organizationId && !isNarrow
      ? db`
          select f.*
            from (select id from subscriptions where organization_id = ${organizationId}) s
           cross join lateral (${finishedOf(db`subscription_id = s.id`)}) f
           order by f.id desc
           limit ${limit}`
      : finishedOf(db`true`);

  const waiting =
    state && state !== "waiting"
      ? db`${selectWaiting(db)} where false`
      : eventId
        ? waitingOfEvent(db, eventId, matches)
        : (subscriptionId ?? organizationId)
          ? waitingOfOwner(db, filter, { fits, isInPage, limit })
          : db`${selectWaiting(db)} where true ${matches}`;

  return db<DeliveryRow[]>`
    select d.*, e.type as event_type
      from (
        (${waiting})
        union all
        (${finished})
      ) d
      left join lateral (select type from events where id = d.event_id limit 1) e on true
     order by d.id desc
     limit ${limit}`;
}

/** An event's deliveries have ids of the event's own millisecond, and an index holds those that were made later. */
function waitingOfEvent(db: Queryable, eventId: EventId, matches: Fragment): Fragment {
  const ms = eventId.slice(0, 13);
  return db`
    (${selectWaiting(db)}
      where id between ${`${ms}-0000-0000-000000000000`} and ${`${ms}-ffff-ffff-ffffffffffff`} ${matches})
    union all
    (${selectWaiting(db)}
      where substring(uuid_send(id) from 1 for 6) <> substring(uuid_send(event_id) from 1 for 6) ${matches})`;
}

/** How many of the newest deliveries are searched before all that wait for the same subscriptions are. */
const NEWEST_MAX = 1_000;

/**
 * Who has many waiting has some among the newest. Who has few has them behind the index of due deliveries, by
 * subscription: it is in no order of use here, so all of them are read and sorted.
 */
function waitingOfOwner(
  db: Queryable,
  { organizationId, subscriptionId }: DeliveryFilter,
  { fits, isInPage, limit }: { fits: Fragment; isInPage: Fragment; limit: number },
): Fragment {
  const subscriptions = subscriptionId
    ? db`select ${subscriptionId}::uuid as id`
    : db`select id from subscriptions where organization_id = ${organizationId ?? null}`;
  return db`
    with newest as materialized (
      ${selectWaiting(db)} where true ${isInPage} order by id desc limit ${NEWEST_MAX}
    ), near as materialized (
      select * from newest where true ${fits} order by id desc limit ${limit}
    )
    select * from near
    union all
    (select w.*
       from (${subscriptions}) s (subscription)
      cross join lateral (
        ${selectWaiting(db)}
         where subscription_id = s.subscription ${fits}
        offset 0 -- Keeps the planner from walking the ids.
      ) w
      where (select count(*) from near) < ${limit}
        and w.id < (select n.id from newest n order by n.id limit 1) ${isInPage}
      order by w.id desc
      limit ${limit})`;
}

/** With the state spelled out, so that the planner always sees which partial index serves. */
function isFinishedAs(db: Queryable, state: DeliveryState | null | undefined) {
  switch (state) {
    case undefined:
    case null:
      return db`true`;
    case "waiting":
      return db`false`;
    case "delivered":
      return db`state = 'delivered'`;
    case "dead_lettered":
      return db`state = 'dead_lettered'`;
    case "cancelled":
      return db`state = 'cancelled'`;
  }
}

/** Null if absent. */
export async function findDelivery(db: Queryable, id: DeliveryId): Promise<DeliveryRow | null> {
  const [row] = await db<DeliveryRow[]>`
    select d.*, e.type as event_type
      from (${selectWaiting(db)} where id = ${id} union all ${selectFinished(db)} where id = ${id}) d
      left join lateral (select type from events where id = d.event_id limit 1) e on true`;
  return row ?? null;
}

function selectWaiting(db: Queryable) {
  return db`
    select id, event_id, subscription_id, organization_id, 'waiting' as state, attempts, last_reason, created_at,
           due_at, null::timestamptz as finished_at
      from waiting_deliveries`;
}

function selectFinished(db: Queryable) {
  return db`
    select id, event_id, subscription_id, organization_id, state, attempts, last_reason, created_at,
           null::timestamptz as due_at, finished_at
      from finished_deliveries`;
}

/**
 * Puts the event of a finished delivery on its way once more, as a new delivery. Reads the event in the same
 * statement, so that it cannot be dropped in between. False when it is gone.
 */
export async function insertRedelivery(
  db: Queryable,
  row: { id: DeliveryId; event_id: EventId; subscription_id: SubscriptionId; now: Date },
): Promise<boolean> {
  const { count } = await db`
    insert into waiting_deliveries (id, event_id, subscription_id, organization_id, created_at, due_at)
    select ${row.id}, e.id, ${row.subscription_id}, e.organization_id, ${row.now}, ${row.now}
      from events e
     where e.id = ${row.event_id}`;
  return count === 1;
}
