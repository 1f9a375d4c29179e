import { arrayText } from "./array-text.ts";
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
  /** JSON text. */
  data: string;
}

/** Where an event goes, and what signs it. */
export interface Recipient {
  url: string;
  sealed_secret: Buffer;
}

/**
 * Writes events with a delivery each, in one statement; those that are `lent` a hand already have the lease. Answers the
 * recipients of those that were written, by the id of the event: of those whose subscription is active. The statement is
 * sent before this returns its promise.
 */
export async function insertDirectEvents(
  db: Queryable,
  rows: DirectEventRow[],
  lent: boolean[],
  { leaseId, leasedUntil }: { leaseId: string; leasedUntil: Date },
): Promise<Map<string, Recipient>> {
  const column = (name: keyof DirectEventRow) => arrayText(rows.map((row) => row[name]));
  const written = await db<(Recipient & { id: string })[]>`
    with new as (
      select n.*, s.organization_id, s.url, s.sealed_secret
        from unnest(${column("id")}::text::uuid[], ${column("delivery_id")}::text::uuid[],
                    ${column("subscription_id")}::text::uuid[], ${column("type")}::text::text[],
                    ${column("occurred_at")}::text::timestamptz[], ${column("data")}::text::text[],
                    ${arrayText(lent)}::text::boolean[])
             as n (id, delivery_id, subscription_id, type, occurred_at, data, is_lent)
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
      select delivery_id, id, subscription_id, organization_id, occurred_at, occurred_at,
             case when is_lent then ${leaseId}::uuid end, case when is_lent then ${leasedUntil}::timestamptz end
        from new
    )
    select id, url, sealed_secret from new`.execute();
  return new Map(written.map(({ id, url, sealed_secret }) => [id, { url, sealed_secret }]));
}
