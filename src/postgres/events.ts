import type { NewEvent } from "../domain/event.ts";
import type { DeliveryId, EventId, SubscriptionId } from "../domain/ids.ts";
import { arrayText, type Columns, type Value } from "./array-text.ts";
import type { Queryable } from "./database.ts";
import type { Statement } from "./driver/statement.ts";

/** An event that is about to be written. */
export interface IdentifiedEvent {
  id: EventId;
  occurredAt: Date;
  event: NewEvent;
}

/** Which new deliveries get a lease at once. Those of a subscription with a ceiling do not. */
export interface EarlyLeases {
  /** The largest number, at most one for each subscription. */
  slots: number;
  /** The ids of subscriptions and organizations that get none. */
  except: string[];
  leaseId: string;
  leasedUntil: Date;
}

/** How a statement takes dedupe keys. */
export interface KeyTaking {
  /** A key that was taken at or before this moment is free. */
  expired: Date;
  /** How long to wait for a transaction that has taken a key and not committed. Null: the statement timeout. */
  waitMs: number | null;
}

const NO_LEASES = { slots: 0, except: [], leaseId: null, leasedUntil: null };

export interface WrittenDelivery {
  id: DeliveryId;
  eventId: EventId;
  subscriptionId: SubscriptionId;
  /** Null unless the delivery was written with a lease. The same holds for `sealedSecret`. */
  url: string | null;
  sealedSecret: Buffer | null;
}

/** An event that was not written, and the event that has its dedupe key. */
export interface Duplicate {
  id: null;
  eventId: EventId;
  firstId: EventId;
}

/**
 * Writes events and a delivery for each recipient in one statement. Returns the deliveries. An event that names a subscription
 * is written only if the subscription is active. An event whose dedupe key is taken is not written.
 *
 * A delivery's id begins with the eight bytes of its event's id that carry time and sequence, so both sort in the same order.
 */
export async function insertEvents(
  db: Queryable,
  given: IdentifiedEvent[],
  { now, leases, keys }: { now: Date; leases: EarlyLeases | null; keys: KeyTaking },
): Promise<(WrittenDelivery | Duplicate)[]> {
  const { slots, except, leaseId, leasedUntil } = leases ?? NO_LEASES;
  const { events, first, duplicates } = given.some(({ event }) => event.dedupeKey !== undefined)
    ? unlessTaken(db, given, now, keys)
    : { events: db`new as (${selectGiven(db, given)})`, first: db``, duplicates: db`` };
  const trace = isTraced(given) ? db`, traceparent` : db``;
  return db<(WrittenDelivery | Duplicate)[]>`
    with ${events},
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
       where not array[subscription_id, organization_id] && ${arrayText(except)}::text::uuid[]
         and not exists (select from subscription_ceilings c where c.subscription_id = delivery.subscription_id)
       limit ${slots}
    ),
    event as (
      insert into events (id, organization_id, type, occurred_at, data, request_id ${trace})
      select id, organization_id, type, occurred_at, data, request_id ${trace}
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
    select d.id, event_id as "eventId", subscription_id as "subscriptionId",
           case when l.id is not null then url end as url,
           case when l.id is not null then sealed_secret end as "sealedSecret"
           ${first}
      from delivery d
      left join leased l on l.id = d.id
    ${duplicates}`;
}

type Fragment = Statement<unknown>;

/** Without traces the statement has no column for them, and costs nothing more. */
function isTraced(given: IdentifiedEvent[]): boolean {
  return given.some(({ event }) => event.traceparent !== undefined);
}

/** Returns the events as a table, with the columns `more`. */
function selectGiven(
  db: Queryable,
  given: IdentifiedEvent[],
  more = { value: db``, name: db`` },
): Fragment {
  const column = (name: keyof typeof COLUMNS) => arrayText(given.map<Value>(COLUMNS[name]));
  const trace = isTraced(given)
    ? { value: db`, ${column("traceparent")}::text::text[]`, name: db`, traceparent` }
    : { value: db``, name: db`` };
  return db`
    select *
      from unnest(${column("id")}::text::uuid[], ${column("organization_id")}::text::uuid[], ${column("type")}::text::text[],
                  ${column("occurred_at")}::text::timestamptz[], ${column("data")}::text::text[],
                  ${column("subscription_id")}::text::uuid[], ${column("request_id")}::text::text[] ${trace.value} ${more.value})
           as n (id, organization_id, type, occurred_at, data, subscription_id, request_id ${trace.name} ${more.name})`;
}

const COLUMNS = {
  id: ({ id }) => id,
  organization_id: ({ event }) => event.organizationId,
  type: ({ event }) => event.type,
  occurred_at: ({ occurredAt }) => occurredAt,
  data: ({ event }) => event.data,
  subscription_id: ({ event }) => event.subscriptionId ?? null,
  dedupe_key: ({ event }) => event.dedupeKey ?? null,
  request_id: ({ event }) => event.requestId ?? null,
  traceparent: ({ event }) => event.traceparent ?? null,
} satisfies Columns<IdentifiedEvent>;

/**
 * The same, without events whose dedupe key is taken by an earlier event or by another of these.
 *
 * The statement writes the row of every key. So it waits for a transaction that has just taken a key, and then reads that
 * event. Keys are taken in one order, so two batches cannot deadlock.
 */
function unlessTaken(
  db: Queryable,
  given: IdentifiedEvent[],
  now: Date,
  { expired, waitMs }: KeyTaking,
): { events: Fragment; first: Fragment; duplicates: Fragment } {
  const value = db`, ${arrayText(given.map(COLUMNS.dedupe_key))}::text::text[]`;
  const wait = waitMs === null ? db`` : db`, set_config('lock_timeout', ${String(waitMs)}, true)`;
  const events = db`
    given as (${selectGiven(db, given, { value, name: db`, dedupe_key` })}),
    key as (
      insert into dedupe_keys as k (organization_id, key, event_id, at)
      select organization_id, dedupe_key, id, ${now}
        from (
          select distinct on (organization_id, dedupe_key) organization_id, dedupe_key, id ${wait}
            from given
           where dedupe_key is not null
           order by organization_id, dedupe_key, id
        ) wanted
       order by organization_id, dedupe_key
          on conflict (organization_id, key) do update
         set event_id = case when k.at <= ${expired} then excluded.event_id else k.event_id end,
             at = case when k.at <= ${expired} then excluded.at else k.at end
      returning k.organization_id, k.key, k.event_id
    ),
    new as (
      select g.*
        from given g
        left join key k on k.organization_id = g.organization_id and k.key = g.dedupe_key
       where k.event_id is null or k.event_id = g.id
    )`;
  const duplicates = db`
    union all
    select null, g.id, null, null, null, k.event_id
      from given g
      join key k on k.organization_id = g.organization_id and k.key = g.dedupe_key
     where k.event_id <> g.id`;
  return { events, first: db`, null::uuid as "firstId"`, duplicates };
}
