import type { DeliveryId, EventId, RedeliveryId, SubscriptionId } from "../domain/ids.ts";
import type { Queryable } from "./database.ts";

/** A finished delivery and its redelivery. */
export interface Redelivered {
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
      insert into waiting_deliveries (id, event_id, subscription_id, organization_id, created_at, due_at)
      select w.redelivery_id, e.id, ${to}, e.organization_id, ${now}, ${now}
        from wanted w
        join events e on e.id = w.event_id
      returning id
    )
    insert into redelivery_marks (redelivery_id, delivery_id, job_id)
    select w.redelivery_id, w.delivery_id, ${job} from wanted w join made m on m.id = w.redelivery_id
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
      join finished_deliveries f on f.id = w.id and f.finished_at = w.finished_at
     order by f.id
       for no key update of f`;
}
