import { arrayText } from "./array-text.ts";
import type { Queryable } from "./database.ts";
import type { DeliveryId, EventId, OrganizationId, SubscriptionId } from "../domain/ids.ts";

export interface EventRow {
  id: EventId;
  organization_id: OrganizationId;
  type: string;
  occurred_at: Date;
  /** JSON text without control characters. */
  data: string;
  /** Null: for every active subscription of the organization that lists the type. */
  subscription_id: SubscriptionId | null;
}

/** Which of the deliveries that a statement writes get a lease at once. */
export interface EarlyLeases {
  /** How many at most, and never two for one subscription. */
  slots: number;
  /** Subscriptions that get none. */
  except: string[];
  leaseId: string;
  leasedUntil: Date;
}

const NO_LEASES = { slots: 0, except: [], leaseId: null, leasedUntil: null };

export interface PublishedDeliveryRow {
  id: DeliveryId;
  event_id: EventId;
  subscription_id: SubscriptionId;
  /** Null unless the delivery was written with a lease. So is `sealed_secret`. */
  url: string | null;
  sealed_secret: Buffer | null;
}

/**
 * Writes events with a delivery for each recipient, in one statement, and returns the deliveries. An event that names a
 * subscription is written only if that subscription is active.
 *
 * A delivery's id begins with the eight bytes of its event's id that carry time and sequence, so both sort alike.
 */
export async function insertEvents(
  db: Queryable,
  rows: EventRow[],
  { now, leases }: { now: Date; leases: EarlyLeases | null },
): Promise<PublishedDeliveryRow[]> {
  const { slots, except, leaseId, leasedUntil } = leases ?? NO_LEASES;
  const column = (name: keyof EventRow) => arrayText(rows.map((row) => row[name]));
  return db<PublishedDeliveryRow[]>`
    with new as (
      select *
        from unnest(${column("id")}::text::uuid[], ${column("organization_id")}::text::uuid[], ${column("type")}::text::text[],
                    ${column("occurred_at")}::text::timestamptz[], ${column("data")}::text::text[],
                    ${column("subscription_id")}::text::uuid[])
             as n (id, organization_id, type, occurred_at, data, subscription_id)
    ),
    recipient as (
      select n.id as event_id, s.id as subscription_id, s.organization_id, s.url, s.sealed_secret
        from new n
        join subscriptions s on s.id = n.subscription_id and s.organization_id = n.organization_id
       where s.deleted_at is null and s.auto_disabled_at is null
      union all
      select n.id, s.id, s.organization_id, s.url, s.sealed_secret
        from new n
        join subscriptions s on s.organization_id = n.organization_id and n.type = any(s.events)
       where n.subscription_id is null and s.deleted_at is null and s.auto_disabled_at is null
    ),
    delivery as (
      select encode(overlay(uuid_send(gen_random_uuid()) placing substring(uuid_send(event_id) for 8) from 1), 'hex')::uuid as id,
             r.*
        from recipient r
    ),
    leased as (
      select distinct on (subscription_id) id
        from delivery
       where subscription_id <> all(${arrayText(except)}::text::uuid[])
       limit ${slots}
    ),
    event as (
      insert into events (id, organization_id, type, occurred_at, data)
      select id, organization_id, type, occurred_at, data
        from new
       where subscription_id is null or id in (select event_id from recipient)
    ),
    waiting as (
      insert into waiting_deliveries
             (id, event_id, subscription_id, organization_id, created_at, due_at, lease_id, leased_until)
      select d.id, event_id, subscription_id, organization_id, ${now}, ${now},
             case when l.id is not null then ${leaseId}::uuid end,
             case when l.id is not null then ${leasedUntil}::timestamptz end
        from delivery d
        left join leased l on l.id = d.id
    )
    select d.id, event_id, subscription_id,
           case when l.id is not null then url end as url,
           case when l.id is not null then sealed_secret end as sealed_secret
      from delivery d
      left join leased l on l.id = d.id`;
}
