import type { DeliveryState } from "../domain/delivery.ts";
import type { DeliveryId, EventId, OrganizationId, SubscriptionId } from "../domain/ids.ts";
import type { Queryable } from "./database.ts";
import type { Statement } from "./driver/statement.ts";

type Fragment = Statement<unknown>;

/** A waiting or finished delivery, as operators see it. */
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
  organization_slug: string;
  url: string;
  /** The request that published the event. */
  request_id: string | null;
  redelivery_of: DeliveryId | null;
  /** The latest redelivery. */
  redelivered_as: DeliveryId | null;
}

/** Null if absent. */
export async function findDelivery(db: Queryable, id: DeliveryId): Promise<DeliveryRow | null> {
  const one = db`${selectWaiting(db)} where id = ${id} union all ${selectFinished(db)} where id = ${id}`;
  const [row] = await db<DeliveryRow[]>`select found.* from (${withNames(db, one)}) found`;
  return row ?? null;
}

/** Returns the redeliveries of a delivery, oldest first. */
export async function listRedeliveriesOf(
  db: Queryable,
  id: DeliveryId,
  limit: number,
): Promise<DeliveryRow[]> {
  const ids = db`id in (select redelivery_id from redelivery_marks where delivery_id = ${id} order by redelivery_id limit ${limit})`;
  const made = db`${selectWaiting(db)} where ${ids} union all ${selectFinished(db)} where ${ids}`;
  return db<DeliveryRow[]>`select found.* from (${withNames(db, made)}) found order by id`;
}

/** Adds what these deliveries belong to: event, organization, subscription and redeliveries. */
export function withNames(db: Queryable, deliveries: Fragment): Fragment {
  return db`
    select d.*, e.type as event_type, e.request_id, o.slug as organization_slug, s.url,
           m.delivery_id as redelivery_of, r.redelivery_id as redelivered_as
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
