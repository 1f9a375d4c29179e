import {
  type AttemptId,
  type ChangeId,
  type DeliveryId,
  type EventId,
  firstIdAt,
  type KeyId,
  type OrganizationId,
  type RedeliveryId,
  type SubscriptionId,
} from "../../lib/ids.ts";
import { hasId } from "../deliveries/sql.ts";
import { arrayText } from "../../postgres/array-text.ts";
import type { Queryable } from "../../postgres/database.ts";

/** How an operator reached the service. */
export const CHANGE_WAYS = ["api", "console", "command_line"] as const;
export type ChangeWay = (typeof CHANGE_WAYS)[number];

/** A change or a look-up by an operator. Its id carries the time. */
export interface Change {
  id: ChangeId;
  /** The token's name. */
  operator: string;
  action: string;
  /** The public id of the object. */
  subject: string;
  via: ChangeWay;
  /** The IP address of the request. */
  remote: string;
  requestId: string;
}

export type NewChange = Omit<Change, "id">;
export type DatedChange = Change & { at: Date };

/** Does not change existing rows. */
export async function insertChanges(db: Queryable, rows: Change[]): Promise<void> {
  const column = (name: keyof Change) => arrayText(rows.map((row) => row[name]));
  await db`
    insert into operator_changes (id, operator, action, subject, via, remote, request_id)
    select *
      from unnest(${column("id")}::text::uuid[], ${column("operator")}::text::text[],
                  ${column("action")}::text::text[], ${column("subject")}::text::text[],
                  ${column("via")}::text::text[], ${column("remote")}::text::text[],
                  ${column("requestId")}::text::text[])
    on conflict (id) do nothing`;
}

interface ChangeFilter {
  operator?: string | undefined;
  action?: string | undefined;
  subject?: string | undefined;
  /** False: leaves out look-ups. */
  withReads?: boolean;
  since?: Date | null;
  until?: Date | null;
}

/** Returns changes, newest first, after `after`. */
export async function listChanges(
  db: Queryable,
  { operator, action, subject, withReads = true, since, until }: ChangeFilter,
  { after, limit }: { after: string | null; limit: number },
): Promise<DatedChange[]> {
  return db<DatedChange[]>`
    select id, operator, action, subject, via, remote, request_id as "requestId", moment_of(id) as at
      from operator_changes
     where true
       ${operator === undefined ? db`` : db`and operator = ${operator}`}
       ${action === undefined ? db`` : db`and action = ${action}`}
       ${subject === undefined ? db`` : db`and subject = ${subject}`}
       ${withReads ? db`` : db`and action not like 'read\\_%'`}
       ${since ? db`and id >= ${firstIdAt(since)}` : db``}
       ${until ? db`and id < ${firstIdAt(until)}` : db``}
       ${after === null ? db`` : db`and id < ${after}`}
     order by id desc
     limit ${limit}`;
}

/** Returns the slug of an organization. Null if absent. */
export async function findSlug(db: Queryable, id: OrganizationId): Promise<string | null> {
  const [row] = await db<{ slug: string }[]>`select slug from organizations where id = ${id}`;
  return row?.slug ?? null;
}

/** Returns the end of the range of texts that begin with `prefix`, in byte order. */
const behind = (prefix: string) => `${prefix}\u{10ffff}`;

/** Returns organizations whose slug begins with `prefix`, an exact match first. */
export async function listSlugs(
  db: Queryable,
  prefix: string,
  limit: number,
): Promise<{ id: OrganizationId; slug: string }[]> {
  return db<{ id: OrganizationId; slug: string }[]>`
    select id, slug from organizations
     where slug ~>=~ ${prefix} and slug ~<~ ${behind(prefix)}
     order by slug using ~<~
     limit ${limit}`;
}

/** Returns hosts that begin with `prefix`, an exact match first. Jumps from host to host, however many subscriptions each has. */
export async function listHosts(db: Queryable, prefix: string, limit: number): Promise<string[]> {
  const rows = await db<{ host: string }[]>`
    with recursive found (host) as (
      (select host from subscriptions
        where host ~>=~ ${prefix} and host ~<~ ${behind(prefix)}
        order by host using ~<~
        limit 1)
      union all
      select (select s.host from subscriptions s
               where s.host ~>~ found.host and s.host ~<~ ${behind(prefix)}
               order by s.host using ~<~
               limit 1)
        from found
       where found.host is not null
    )
    select host from found where host is not null limit ${limit}`;
  return rows.map(({ host }) => host);
}

/** Returns the URL of a subscription, even a deleted one. Null if absent. */
export async function findUrl(db: Queryable, id: SubscriptionId): Promise<string | null> {
  const [row] = await db<{ url: string }[]>`select url from subscriptions where id = ${id}`;
  return row?.url ?? null;
}

/** Null if absent. */
export async function findEventType(db: Queryable, id: EventId): Promise<string | null> {
  const [row] = await db<{ type: string }[]>`select type from events where id = ${id}`;
  return row?.type ?? null;
}

/** Null if absent. */
export async function findDeliveryState(db: Queryable, id: DeliveryId): Promise<string | null> {
  const [row] = await db<{ state: string }[]>`
    select 'waiting' as state from waiting_deliveries where id = ${id}
    union all
    select state from finished where ${hasId(db, id)}`;
  return row?.state ?? null;
}

/**
 * Null if absent. BRIN indexes serve the search. A success is part of its delivery, which finished at most `spanMs` after the
 * attempt began.
 */
export async function findAttempt(
  db: Queryable,
  id: AttemptId,
  spanMs: number,
): Promise<{ deliveryId: DeliveryId; outcome: string } | null> {
  const [row] = await db<{ deliveryId: DeliveryId; outcome: string }[]>`
    (select delivery_id as "deliveryId", coalesce(reason, 'delivered') as outcome from attempts where id = ${id})
    union all
    (select id, 'delivered'
       from finished
      where success_id = ${id} and substring(uuid_send(id) from 9) = substring(uuid_send(${id}) from 9)
        and finished_at between moment_of(${id}) - interval '1 second'
                            and moment_of(${id}) + ${spanMs}::int * interval '1 millisecond')
    limit 1`;
  return row ?? null;
}

/** Returns the label of a key, or its scopes if it has no label. Null if absent. */
export async function findKeyLabel(db: Queryable, keyId: KeyId): Promise<string | null> {
  const [row] = await db<{ label: string }[]>`
    select o.slug || ': ' || coalesce(k.label, array_to_string(k.scopes, ' ')) as label
      from api_keys k
      join organizations o on o.id = k.organization_id
     where k.key_id = ${keyId}`;
  return row?.label ?? null;
}

/** Null if absent. */
export async function findJobState(db: Queryable, id: RedeliveryId): Promise<string | null> {
  const [row] = await db<{ state: string }[]>`select state from redelivery_jobs where id = ${id}`;
  return row?.state ?? null;
}

/** Remembers an ended session until its regular expiry. */
export async function insertEndedSession(
  db: Queryable,
  { nonce, endsAt }: { nonce: string; endsAt: Date },
): Promise<void> {
  await db`
    insert into ended_sessions (nonce, ends_at) values (${nonce}, ${endsAt})
        on conflict (nonce) do nothing`;
}

/** Returns true if a session was ended before it expired. */
export async function isSessionEnded(db: Queryable, nonce: string): Promise<boolean> {
  const [row] = await db<{ nonce: string }[]>`
    select nonce from ended_sessions where nonce = ${nonce}`;
  return row !== undefined;
}
