import type { EventId } from "../domain/ids.ts";
import type { Queryable } from "./database.ts";

/** Deliveries that one statement cancels. */
const CANCELLED_MAX = 5_000;

/** Replaces the event's data by an empty object. False if absent. */
export async function erasePayload(db: Queryable, id: EventId): Promise<boolean> {
  const [{ erased }] = await db<[{ erased: boolean }]>`select erase_payload(${id}) as erased`;
  return erased;
}

/**
 * Cancels waiting deliveries of an event. Returns true if some may be left. A delivery that was created with its event has an
 * id of the same millisecond. An index holds those that were created later.
 */
export async function cancelWaitingOfEvent(
  db: Queryable,
  id: EventId,
  now: Date,
): Promise<boolean> {
  const ms = id.slice(0, 13);
  const [{ count }] = await db<[{ count: number }]>`
    with gone as (
      delete from waiting_deliveries
       where id in (
         select id from waiting_deliveries
          where event_id = ${id}
            and (id between ${`${ms}-0000-0000-000000000000`} and ${`${ms}-ffff-ffff-ffffffffffff`}
                 or substring(uuid_send(id) from 1 for 6) <> substring(uuid_send(event_id) from 1 for 6))
          order by id
          limit ${CANCELLED_MAX}
            for update)
      returning *
    ),
    cancelled as (
      insert into finished_deliveries
             (id, event_id, subscription_id, organization_id, created_at, finished_at, state, attempts, last_reason, lease_id)
      select id, event_id, subscription_id, organization_id, created_at, ${now}, 'cancelled', attempts, last_reason,
             lease_id
        from gone
    )
    select count(*)::int as count from gone`;
  return count === CANCELLED_MAX;
}
