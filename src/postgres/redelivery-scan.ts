import type { DeliveryId, EventId, OrganizationId, SubscriptionId } from "../domain/ids.ts";
import type { RedeliverableState } from "../domain/redelivery.ts";
import type { Queryable } from "./database.ts";
import { isFinishedAs } from "./deliveries.ts";
import type { RedeliveryFilter } from "./redelivery-jobs.ts";

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
  place: { subscriptionId: SubscriptionId; state: RedeliverableState; after: DeliveryId | null },
): Promise<PassedDelivery[]> {
  return db<PassedDelivery[]>`
    with passed as materialized (
      select id, event_id, finished_at, state
        from finished_deliveries
       where subscription_id = ${place.subscriptionId} ${isFinishedAs(db, place.state)} ${narrowed(db, filter)}
         ${place.after === null ? db`` : db`and id > ${place.after}`}
       order by id
       limit ${PASSED_MAX}
    )
    select id, event_id as "eventId", finished_at as "finishedAt", ${fitting(db, filter, place.state)} as fits from passed order by id`;
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
         from unnest(${subscriptionIds}::uuid[]) as s (owner)
        cross join lateral (
          select id, event_id, finished_at, state
            from finished_deliveries
           where subscription_id = s.owner ${isFinishedAs(db, state)} ${narrowed(db, filter)}
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

/** A value in place of EXISTS, for which the planner may read all marks. */
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

/** Conditions that an index serves. */
function narrowed(db: Queryable, { reason, eventId, since, until }: RedeliveryFilter) {
  return db`
    ${reason ? db`and last_reason = ${reason}` : db``}
    ${eventId ? db`and event_id = ${eventId}` : db``}
    ${since ? db`and id >= first_id_at(${since})` : db``}
    ${until ? db`and id < first_id_at(${until})` : db``}`;
}

/** Conditions that are checked row by row. A delivery that finished after the job was created may be the job's own. */
function fitting(
  db: Queryable,
  { eventType, createdAt }: RedeliveryFilter & { createdAt: Date },
  state: RedeliverableState,
) {
  return db`
    (state = ${state} and finished_at < ${createdAt}
     ${eventType ? db`and (select e.type from events e where e.id = event_id limit 1) = ${eventType}` : db``})`;
}
