import type { DeliveryState } from "../domain/delivery.ts";
import type { DeliveryId, EventId, OrganizationId, SubscriptionId } from "../domain/ids.ts";
import type { Queryable } from "./database.ts";
import type { Fragment, Statement } from "./driver/statement.ts";

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
}

/** Null if absent. */
export async function findDelivery(db: Queryable, id: DeliveryId): Promise<Delivery | null> {
  const one = db`${selectWaiting(db)} where id = ${id} union all ${selectFinished(db)} where id = ${id}`;
  const [row] = await withNames(db, one);
  return row ?? null;
}

/** Returns the redeliveries of a delivery, oldest first. */
export async function listRedeliveriesOf(
  db: Queryable,
  id: DeliveryId,
  limit: number,
): Promise<Delivery[]> {
  const ids = db`id in (select redelivery_id from redelivery_marks where delivery_id = ${id} order by redelivery_id limit ${limit})`;
  const made = db`${selectWaiting(db)} where ${ids} union all ${selectFinished(db)} where ${ids}`;
  return db<Delivery[]>`${withNames(db, made)} order by d.id`;
}

/** Adds what these deliveries belong to: event, organization, subscription and redeliveries. */
export function withNames(db: Queryable, deliveries: Fragment): Statement<Delivery[]> {
  return db<Delivery[]>`
    select d.id, d.event_id as "eventId", e.type as "eventType", d.subscription_id as "subscriptionId",
           d.organization_id as "organizationId", d.state, d.attempts, d.last_reason as "lastReason",
           d.created_at as "createdAt", d.due_at as "dueAt", d.finished_at as "finishedAt",
           o.slug as "organizationSlug", s.url, e.request_id as "requestId",
           m.delivery_id as "redeliveryOf", r.redelivery_id as "redeliveredAs"
      from (${deliveries}) d
      left join lateral (select type, request_id from events where id = d.event_id limit 1) e on true
      left join organizations o on o.id = d.organization_id
      left join subscriptions s on s.id = d.subscription_id
      left join redelivery_marks m on m.redelivery_id = d.id
      left join lateral (
        select redelivery_id from redelivery_marks where delivery_id = d.id order by redelivery_id desc limit 1
      ) r on true`;
}

export function selectWaiting(db: Queryable): Fragment {
  return db`
    select id, event_id, subscription_id, organization_id, 'waiting' as state, attempts, last_reason, created_at,
           due_at, null::timestamptz as finished_at
      from waiting_deliveries`;
}

export function selectFinished(db: Queryable): Fragment {
  return db`
    select id, event_id, subscription_id, organization_id, state, attempts, last_reason, created_at,
           null::timestamptz as due_at, finished_at
      from finished_deliveries`;
}

/** Spells the state out, so that the planner sees which partial index applies. No index holds only delivered ones. */
export function isFinishedAs(db: Queryable, state: DeliveryState | null | undefined): Fragment {
  if (state === "dead_lettered") return db`and state = 'dead_lettered'`;
  if (state === "cancelled") return db`and state = 'cancelled'`;
  return db``;
}
