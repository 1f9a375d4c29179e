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
  /** Whose claim its delivery is already, and until when; null when it waits for one. */
  lease_id: string | null;
  leased_until: Date | null;
}

/** Where an event goes, and what signs it. */
export interface Recipient {
  url: string;
  sealed_secret: Buffer;
}

/**
 * Writes events with a delivery each, in one statement. Answers the recipients of those that were written, by the id
 * of the event: of those whose subscription is active.
 */
export async function insertDirectEvents(
  db: Queryable,
  rows: DirectEventRow[],
): Promise<Map<string, Recipient>> {
  const written = await db<(Recipient & { id: string })[]>`
    with new as (
      select n.*, s.organization_id, s.url, s.sealed_secret
        from json_to_recordset(${JSON.stringify(rows)}::text::json)
             as n (id uuid, delivery_id uuid, subscription_id uuid, type text, occurred_at timestamptz, data text,
                   lease_id uuid, leased_until timestamptz)
        join subscriptions s on s.id = n.subscription_id
       where s.deleted_at is null and s.auto_disabled_at is null
    ),
    event as (
      insert into events (id, organization_id, type, occurred_at, data)
      select id, organization_id, type, occurred_at, data from new
    ),
    delivery as (
      insert into waiting_deliveries
             (id, event_id, subscription_id, organization_id, created_at, due_at, lease_id, leased_until)
      select delivery_id, id, subscription_id, organization_id, occurred_at, occurred_at, lease_id, leased_until
        from new
    )
    select id, url, sealed_secret from new`;
  return new Map(written.map(({ id, url, sealed_secret }) => [id, { url, sealed_secret }]));
}
