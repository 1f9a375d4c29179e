import {
  type DeliveryId,
  type EventId,
  type LeaseId,
  type OrganizationId,
  type SubscriptionId,
  UUID,
} from "../../lib/ids.ts";
import { arrayText, type Value } from "../../postgres/array-text.ts";
import type { Queryable } from "../../postgres/database.ts";
import type { Fragment } from "../../postgres/driver/statement.ts";
import type { NewEvent } from "./rules.ts";

interface StoredEvent {
  id: EventId;
  organizationSlug: string;
  type: string;
  occurredAt: Date;
  publishedAt: Date;
  /** Of the request that published it. */
  requestId: string | null;
  /** JSON text. */
  data: string;
}

/** Null if absent. */
export async function findEvent(db: Queryable, id: EventId): Promise<StoredEvent | null> {
  const [row] = await db<StoredEvent[]>`
    select e.id, o.slug as "organizationSlug", e.type, coalesce(e.occurred_at, moment_of(e.id)) as "occurredAt",
           moment_of(e.id) as "publishedAt", coalesce(e.request_id::text, e.request_name) as "requestId", e.data
      from events e
      join organizations o on o.number = e.organization_number
     where e.id = ${id}`;
  return row ?? null;
}

export interface TypeUse {
  type: string;
  subscriptions: number;
  lastPublishedAt: Date | null;
}

/** The newest events to search for the service's own types, which no index holds. */
const NEWEST_MAX = 10_000;

/** Returns the use of these types, in no particular order. Event ids carry the time of publishing. */
export async function listTypeUses(db: Queryable, types: string[]): Promise<TypeUse[]> {
  return db<TypeUse[]>`
    with listed as (
      select type, count(*)::int as subscriptions
        from subscriptions s
       cross join unnest(s.events) as type
       where s.deleted_at is null and s.auto_disabled_at is null and s.events && ${types}::text[]
       group by type
    ),
    newest as materialized (
      select id, type from events order by id desc limit ${NEWEST_MAX}
    )
    select t.type, coalesce(l.subscriptions, 0) as subscriptions, moment_of(e.id) as "lastPublishedAt"
      from unnest(${types}::text[]) as t (type)
      left join listed l on l.type = t.type
      left join lateral (
        (select id from events where type = t.type and type not like 'vc.%' order by id desc limit 1)
        union all
        (select id from newest where type = t.type and type like 'vc.%' order by id desc limit 1)
      ) e on true`;
}

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
  except: (SubscriptionId | OrganizationId)[];
  leaseId: LeaseId;
  leasedUntil: Date;
}

/** How a statement takes dedupe keys. */
export interface KeyTaking {
  /** A key that was taken at or before this moment is free. */
  expired: Date;
  /** How long to wait for a transaction that has taken a key and not committed. Null: the statement timeout. */
  waitMs: number | null;
}

export interface WrittenDelivery {
  id: DeliveryId;
  eventId: EventId;
  subscriptionId: SubscriptionId;
  /** Null unless the delivery was written with a lease. The same holds for `sealedSecret` and `subscriptionNumber`. */
  url: string | null;
  sealedSecret: Buffer | null;
  subscriptionNumber: number | null;
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
 * A delivery's id is its event's id with a number in the last four digits, so both sort in the same order.
 */
export async function insertEvents(
  db: Queryable,
  given: IdentifiedEvent[],
  { now, leases, keys }: { now: Date; leases: EarlyLeases | null; keys: KeyTaking },
): Promise<(WrittenDelivery | Duplicate)[]> {
  const isLeasing = leases !== null && leases.slots > 0;
  const lease = isLeasing ? leaseSome(db, leases) : leaseNone(db);
  const has = (name: Name) => given.some((one) => COLUMNS[name].of(one) !== null);
  const columns = [...REQUIRED, ...OPTIONAL.filter(has)];
  const [one, ...others] = given;
  const isOne = one && others.length === 0 && !isLeasing;
  const table = isOne ? selectOne(db, one, columns) : selectGiven(db, given, columns);
  const { events, first, duplicates } = has("dedupe_key")
    ? unlessTaken(db, table, now, keys)
    : { events: db`new as (${table})`, first: db``, duplicates: db`` };
  const { recipients, received } = has("subscription_id") ? namedOrListed(db) : listed(db);
  const stored = db(["data", ...STORED.filter(has)]);
  return db<(WrittenDelivery | Duplicate)[]>`
    with ${events},
    recipient as (${recipients}),
    delivery as (
      select delivery_of(event_id, row_number() over (${isOne ? db`` : db`partition by event_id`})) as id, r.*
        from recipient r
    ),
    ${lease.table}
    event as (
      insert into events (id, organization_number, type, ${stored})
      select id, (select o.number from organizations o where o.id = new.organization_id), type, ${stored}
        from new
      ${received}
    ),
    waiting as (
      insert into waiting_deliveries
             (id, event_id, subscription_id, organization_id, due_at ${lease.columns})
      select d.id, event_id, subscription_id, organization_id, ${now} ${lease.values}
        from delivery d
        ${lease.join}
    )
    select d.id, event_id as "eventId", subscription_id as "subscriptionId", ${lease.told} ${first}
      from delivery d
      ${lease.join}
    ${duplicates}`;
}

/** The parts of the statement that give some of the deliveries a lease. */
interface LeaseParts {
  table: Fragment;
  columns: Fragment;
  values: Fragment;
  join: Fragment;
  told: Fragment;
}

function leaseSome(
  db: Queryable,
  { slots, except, leaseId, leasedUntil }: EarlyLeases,
): LeaseParts {
  const table = db`
    leased as (
      select distinct on (subscription_id) id
        from delivery
       where not array[subscription_id, organization_id] && ${arrayText(except)}::text::uuid[]
         and not exists (select from subscription_ceilings c where c.subscription_id = delivery.subscription_id)
       limit ${slots}
    ),`;
  const values = db`, case when l.id is not null then ${leaseId}::uuid end,
             case when l.id is not null then ${leasedUntil}::timestamptz end`;
  const told = db`case when l.id is not null then url end as url,
           case when l.id is not null then sealed_secret end as "sealedSecret",
           case when l.id is not null then number end as "subscriptionNumber"`;
  const join = db`left join leased l on l.id = d.id`;
  return { table, columns: db`, lease_id, leased_until`, values, join, told };
}

/** Without a free slot, the joins would take a fifth of the time of one event. */
function leaseNone(db: Queryable): LeaseParts {
  const told = db`null::text as url, null::bytea as "sealedSecret", null::integer as "subscriptionNumber"`;
  return { table: db``, columns: db``, values: db``, join: db``, told };
}

type Name = keyof typeof COLUMNS;

/** Returns the events as a table with these columns. */
function selectGiven(db: Queryable, given: IdentifiedEvent[], names: Name[]): Fragment {
  const arrays = names.map((name) => {
    const { type, of } = COLUMNS[name];
    return db`${arrayText(given.map<Value>(of))}::text::${db.unsafe(type)}[]`;
  });
  const list = arrays.reduce((before, next) => db`${before}, ${next}`);
  return db`select * from unnest(${list}) as n (${db(names)})`;
}

/**
 * The same for one event. PostgreSQL keeps the plan of this statement. For an array of one it makes a new plan each time, which
 * takes as long as to run it.
 */
function selectOne(db: Queryable, one: IdentifiedEvent, names: Name[]): Fragment {
  const values = names.map((name) => {
    const { type, of } = COLUMNS[name];
    return db`${of(one)}::${db.unsafe(type)} as ${db(name)}`;
  });
  return db`select ${values.reduce((before, next) => db`${before}, ${next}`)}`;
}

const COLUMNS = {
  id: { type: "uuid", of: ({ id }) => id },
  organization_id: { type: "uuid", of: ({ event }) => event.organizationId },
  type: { type: "text", of: ({ event }) => event.type },
  data: { type: "text", of: ({ event }) => event.data },
  occurred_at: { type: "timestamptz", of: ({ event }) => event.occurredAt ?? null },
  subscription_id: { type: "uuid", of: ({ event }) => event.subscriptionId ?? null },
  dedupe_key: { type: "text", of: ({ event }) => event.dedupeKey ?? null },
  request_id: { type: "uuid", of: ({ event }) => requestOf(event).id },
  request_name: { type: "text", of: ({ event }) => requestOf(event).name },
  traceparent: { type: "text", of: ({ event }) => event.traceparent ?? null },
} satisfies Record<string, { type: string; of: (one: IdentifiedEvent) => Value }>;

const REQUIRED = ["id", "organization_id", "type", "data"] as const;
/** Columns of the events' table of which most events have none. */
const STORED = ["occurred_at", "request_id", "request_name", "traceparent"] as const;
/** A statement has such a column only if one of its events has a value, because a column of nulls costs time, too. */
const OPTIONAL = ["subscription_id", "dedupe_key", ...STORED] as const;

const IS_UUID = new RegExp(`^${UUID}$`);

/** Nearly every request has a UUID, which takes less than half the bytes of its text. */
function requestOf({ requestId }: NewEvent): { id: string | null; name: string | null } {
  if (requestId === undefined) return { id: null, name: null };
  return IS_UUID.test(requestId) ? { id: requestId, name: null } : { id: null, name: requestId };
}

/** Every active subscription of the organization that lists the type. */
function listed(db: Queryable): { recipients: Fragment; received: Fragment } {
  const recipients = db`
      select n.id as event_id, s.id as subscription_id, s.number, s.organization_id, s.url, s.sealed_secret
        from new n
        join subscriptions s on s.organization_id = n.organization_id and n.type = any(s.events)
       where s.deleted_at is null and s.auto_disabled_at is null`;
  return { recipients, received: db`` };
}

/** The same, or the one subscription that an event names. */
function namedOrListed(db: Queryable): { recipients: Fragment; received: Fragment } {
  const recipients = db`
      select n.id as event_id, s.id as subscription_id, s.number, s.organization_id, s.url, s.sealed_secret
        from new n
        join subscriptions s on s.id = n.subscription_id and s.organization_id = n.organization_id
       where s.deleted_at is null and s.auto_disabled_at is null
      union all
      ${listed(db).recipients} and n.subscription_id is null`;
  const received = db`where subscription_id is null or id in (select event_id from recipient)`;
  return { recipients, received };
}

/**
 * The same, without events whose dedupe key is taken by an earlier event or by another of these.
 *
 * The statement writes the row of every key. So it waits for a transaction that has just taken a key, and then reads that
 * event. Keys are taken in one order, so two batches cannot deadlock.
 */
function unlessTaken(
  db: Queryable,
  table: Fragment,
  now: Date,
  { expired, waitMs }: KeyTaking,
): { events: Fragment; first: Fragment; duplicates: Fragment } {
  const wait = waitMs === null ? db`` : db`, set_config('lock_timeout', ${String(waitMs)}, true)`;
  const events = db`
    given as (${table}),
    key as (
      insert into dedupe_keys as k (organization_id, key, event_id, at)
      select organization_id, dedupe_key, id, ${now}
        from (
          select organization_id, dedupe_key, min(id::text)::uuid as id ${wait}
            from given
           where dedupe_key is not null
           group by organization_id, dedupe_key
           order by organization_id, dedupe_key
        ) wanted
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
    select null, g.id, null, null, null, null, k.event_id
      from given g
      join key k on k.organization_id = g.organization_id and k.key = g.dedupe_key
     where k.event_id <> g.id`;
  return { events, first: db`, null::uuid as "firstId"`, duplicates };
}

/** Replaces the event's data by an empty object. False if absent. */
export async function erasePayload(db: Queryable, id: EventId): Promise<boolean> {
  const [{ erased }] = await db<[{ erased: boolean }]>`select erase_payload(${id}) as erased`;
  return erased;
}

/**
 * Records that the platform is notified of these organizations now. Returns those with no notice after `expired`. If two
 * processes call at the same time, one waits for the other, and each gets different organizations.
 */
export async function takeLimitNotices(
  tx: Queryable,
  organizationIds: readonly OrganizationId[],
  { now, expired }: { now: Date; expired: Date },
): Promise<OrganizationId[]> {
  const rows = await tx<{ organization_id: OrganizationId }[]>`
    insert into limit_notices as n (organization_id, at)
    select id, ${now} from unnest(${organizationIds.toSorted()}::uuid[]) as id order by id
        on conflict (organization_id) do update set at = excluded.at where n.at <= ${expired}
    returning organization_id`;
  return rows.map((row) => row.organization_id);
}
