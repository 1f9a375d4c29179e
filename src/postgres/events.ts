import type { Queryable } from "./database.ts";

export interface EventRow {
  id: string;
  organization_id: string;
  type: string;
  occurred_at: Date;
  /** JSON text. */
  data: string;
}

export async function insertEvent(db: Queryable, row: EventRow): Promise<void> {
  await db`
    insert into events (id, organization_id, type, occurred_at, data)
    values (${row.id}, ${row.organization_id}, ${row.type}, ${row.occurred_at}, ${row.data})`;
}

/** An event for one subscription alone, as the test call makes it. */
export interface DirectEventRow {
  id: string;
  delivery_id: string;
  subscription_id: string;
  type: string;
  occurred_at: Date;
  data: string;
}

/**
 * Writes events with a delivery each, due at once, in one statement. Answers the ids of the events that were
 * written: those whose subscription is active.
 */
export async function insertDirectEvents(db: Queryable, rows: DirectEventRow[]): Promise<string[]> {
  const inserted = await db<{ event_id: string }[]>`
    with new as (
      select n.*, s.organization_id
        from json_to_recordset(${JSON.stringify(rows)}::text::json)
             as n (id uuid, delivery_id uuid, subscription_id uuid, type text, occurred_at timestamptz, data text)
        join subscriptions s on s.id = n.subscription_id
       where s.deleted_at is null and s.auto_disabled_at is null
    ),
    event as (
      insert into events (id, organization_id, type, occurred_at, data)
      select id, organization_id, type, occurred_at, data from new
    )
    insert into waiting_deliveries (id, event_id, subscription_id, organization_id, created_at, due_at)
    select delivery_id, id, subscription_id, organization_id, occurred_at, occurred_at from new
    returning event_id`;
  return inserted.map((row) => row.event_id);
}
