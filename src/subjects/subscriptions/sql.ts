import type { OrganizationId, SubscriptionId } from "../../lib/ids.ts";
import type { Queryable } from "../../postgres/database.ts";
import type { Fragment } from "../../postgres/driver/statement.ts";
import type { Health, SubscriptionOrder } from "./rules.ts";

/** Gives a subscription a full token bucket, or changes the existing one. Does nothing if the subscription does not exist. */
export async function insertCeiling(
  db: Queryable,
  subscriptionId: SubscriptionId,
  { maxPerSecond, burst }: { maxPerSecond: number; burst: number },
  now: Date,
): Promise<void> {
  await db`
    insert into subscription_ceilings as c (subscription_id, max_per_second, burst, full_at)
    select id, ${maxPerSecond}, ${burst}, ${now}
      from subscriptions
     where id = ${subscriptionId} and deleted_at is null
        on conflict (subscription_id) do update
       set max_per_second = excluded.max_per_second, burst = excluded.burst`;
}

/** Takes the ceiling away. A held subscription stays held. */
export async function deleteCeiling(db: Queryable, id: SubscriptionId): Promise<void> {
  await db`
    update subscription_ceilings set max_per_second = null, burst = null
     where subscription_id = ${id} and held_at is not null`;
  await db`
    delete from subscription_ceilings where subscription_id = ${id} and held_at is null`;
}

/** Holds a subscription: no claim takes any of its deliveries. If it is held already, it keeps its time. */
export async function insertHold(db: Queryable, id: SubscriptionId, now: Date): Promise<void> {
  await db`
    insert into subscription_ceilings as c (subscription_id, full_at, held_at)
    values (${id}, ${now}, ${now})
        on conflict (subscription_id) do update set held_at = coalesce(c.held_at, excluded.held_at)`;
}

/** Releases subscriptions. An ended one must not stay held, because claims cancel what is left of its queue. */
export async function deleteHolds(db: Queryable, ids: SubscriptionId[]): Promise<void> {
  await db`
    update subscription_ceilings set held_at = null
     where subscription_id = any(${ids}::uuid[]) and held_at is not null and max_per_second is not null`;
  await db`
    delete from subscription_ceilings where subscription_id = any(${ids}::uuid[]) and max_per_second is null`;
}

/** True if an operator holds this subscription. */
export function isHeld(db: Queryable, id: Fragment): Fragment {
  return db`
    exists (select from subscription_ceilings c where c.subscription_id = ${id} and c.held_at is not null)`;
}

export interface Subscription {
  id: SubscriptionId;
  organizationId: OrganizationId;
  url: string;
  events: string[];
  consecutiveFailures: number;
  createdAt: Date;
  autoDisabledAt: Date | null;
}

function subscriptionColumns(db: Queryable) {
  return db`
    id, organization_id as "organizationId", url, events, consecutive_failures as "consecutiveFailures",
    created_at as "createdAt", auto_disabled_at as "autoDisabledAt"`;
}

export async function insertSubscription(
  db: Queryable,
  one: Pick<
    SealedSubscription,
    "id" | "organizationId" | "url" | "events" | "createdAt" | "sealedSecret"
  > & {
    host: string;
  },
): Promise<void> {
  await db`
    insert into subscriptions (id, organization_id, url, host, events, sealed_secret, created_at)
    values (${one.id}, ${one.organizationId}, ${one.url}, ${one.host}, ${one.events}, ${one.sealedSecret}, ${one.createdAt})`;
}

/** Counts an organization's subscriptions, auto-disabled ones included, deleted ones not. */
export async function countSubscriptions(
  db: Queryable,
  organizationId: OrganizationId,
): Promise<number> {
  const [row] = await db<[{ count: number }]>`
    select count(*)::int as count
      from subscriptions
     where organization_id = ${organizationId} and deleted_at is null`;
  return row.count;
}

/** Returns the organization of a subscription, even a deleted one. Null if absent. */
export async function findOwner(db: Queryable, id: SubscriptionId): Promise<OrganizationId | null> {
  const [row] = await db<{ organization_id: OrganizationId }[]>`
    select organization_id from subscriptions where id = ${id}`;
  return row?.organization_id ?? null;
}

/** Returns ids of subscriptions, deleted ones included, in no particular order. */
export async function listSubscriptionIds(
  db: Queryable,
  {
    subscriptionId,
    organizationId,
    host,
    limit,
  }: {
    subscriptionId: SubscriptionId | null;
    organizationId: OrganizationId | null;
    host: string | null;
    limit: number;
  },
): Promise<SubscriptionId[]> {
  const rows = await db<{ id: SubscriptionId }[]>`
    select id from subscriptions
     where true
       ${subscriptionId === null ? db`` : db`and id = ${subscriptionId}`}
       ${organizationId === null ? db`` : db`and organization_id = ${organizationId}`}
       ${host === null ? db`` : db`and host = ${host}`}
     limit ${limit}`;
  return rows.map(({ id }) => id);
}

export type SealedSubscription = Subscription & { sealedSecret: Buffer };

/** Returns those of the given subscriptions that are not deleted, with their sealed secrets, in no particular order. */
export async function findSubscriptions(
  db: Queryable,
  ids: SubscriptionId[],
): Promise<SealedSubscription[]> {
  return db<SealedSubscription[]>`
    select ${subscriptionColumns(db)}, sealed_secret as "sealedSecret"
      from subscriptions
     where id = any(${ids}::uuid[])
       and sealed_secret is not null -- Not deleted. This condition makes the planner use the index of ids.`;
}

/** The state and organization of a subscription, even of one that ended. */
export interface Standing {
  url: string;
  autoDisabledAt: Date | null;
  deletedAt: Date | null;
  /** Since when an operator holds it. Null: not held. */
  heldAt: Date | null;
  organizationSlug: string;
}

/** Null if absent. A deleted subscription is kept as long as its deliveries. */
export async function findStanding(db: Queryable, id: SubscriptionId): Promise<Standing | null> {
  const [row] = await db<Standing[]>`
    select s.url, s.auto_disabled_at as "autoDisabledAt", s.deleted_at as "deletedAt", c.held_at as "heldAt",
           o.slug as "organizationSlug"
      from subscriptions s
      join organizations o on o.id = s.organization_id
      left join subscription_ceilings c on c.subscription_id = s.id
     where s.id = ${id}`;
  return row ?? null;
}

/**
 * Marks the subscription as deleted and erases its secret, in kept answers as well. Returns false if it is absent, or does not
 * belong to `organizationId` if that is given.
 */
export async function deleteSubscription(
  db: Queryable,
  id: SubscriptionId,
  { organizationId, now }: { organizationId: OrganizationId | null; now: Date },
): Promise<boolean> {
  const [{ count }] = await db<[{ count: number }]>`
    with deleted as (
      update subscriptions
         set deleted_at = ${now}, sealed_secret = null
       where id = ${id} and deleted_at is null
         ${organizationId === null ? db`` : db`and organization_id = ${organizationId}`}
      returning id, organization_id
    ),
    erased as (
      update kept_answers set sealed_answer = null
       where (organization_id, subscription_id) in (select organization_id, id from deleted)
         and route = 'createSubscription' and sealed_answer is not null
    )
    select count(*)::int as count from deleted`;
  return count === 1;
}

/**
 * The same for all subscriptions of an organization. Returns their ids. Skips a kept answer that is locked: it has expired and
 * is about to be replaced.
 */
export async function deleteSubscriptionsOf(
  tx: Queryable,
  organizationId: OrganizationId,
  now: Date,
): Promise<SubscriptionId[]> {
  const rows = await tx<{ id: SubscriptionId }[]>`
    update subscriptions
       set deleted_at = ${now}, sealed_secret = null
     where id in (
       select id from subscriptions
        where organization_id = ${organizationId} and deleted_at is null
        order by id
          for no key update)
    returning id`;
  // By ctid, so that no plan reads the organization's other answers.
  await tx`
    update kept_answers set sealed_answer = null
     where ctid = any(array(
       select ctid from kept_answers
        where organization_id = ${organizationId} and route = 'createSubscription' and sealed_answer is not null
          for update skip locked))`;
  return rows.map(({ id }) => id);
}

/** Locks the rows in one order until the transaction ends, so that their counters can be updated exactly. */
export async function lockHealth(
  db: Queryable,
  ids: SubscriptionId[],
): Promise<(Health & { id: SubscriptionId })[]> {
  return db<(Health & { id: SubscriptionId })[]>`
    select id, consecutive_failures as "consecutiveFailures", auto_disabled_at is null and deleted_at is null as active
      from subscriptions
     where id = any(${ids}::uuid[])
     order by id
       for no key update`;
}

export async function updateHealth(
  db: Queryable,
  changes: { id: SubscriptionId; health: Health; disabledAt: Date | null }[],
): Promise<void> {
  await db`
    update subscriptions s
       set consecutive_failures = c.consecutive_failures, auto_disabled_at = c.auto_disabled_at
      from unnest(${changes.map((c) => c.id)}::uuid[], ${changes.map((c) => c.health.consecutiveFailures)}::int[],
                  ${changes.map((c) => c.disabledAt?.toISOString() ?? null)}::timestamptz[])
           as c (id, consecutive_failures, auto_disabled_at)
     where s.id = c.id`;
}

export interface SealedSecret {
  id: SubscriptionId;
  sealedSecret: Buffer;
}

/** Returns sealed secrets in order of id, after `after`. */
export async function listSealedSecrets(
  db: Queryable,
  { after, limit }: { after: SubscriptionId | null; limit: number },
): Promise<SealedSecret[]> {
  return db<SealedSecret[]>`
    select id, sealed_secret as "sealedSecret"
      from subscriptions
     where sealed_secret is not null ${after === null ? db`` : db`and id > ${after}`}
     order by id
     limit ${limit}`;
}

/** Returns true if any sealed secret begins with one of these heads. */
export async function isAnySealedUnder(db: Queryable, heads: Buffer[]): Promise<boolean> {
  const patterns = heads.map((head) => `${head.toString("hex")}%`);
  const [{ found }] = await db<[{ found: boolean }]>`
    select exists (
      select from subscriptions where encode(sealed_secret, 'hex') like any(${patterns}::text[])
    ) as found`;
  return found;
}

/** Returns false if the secret was replaced or erased meanwhile. */
export async function replaceSealedSecret(
  db: Queryable,
  { id, from, to }: { id: SubscriptionId; from: Buffer; to: Buffer },
): Promise<boolean> {
  const { count } = await db`
    update subscriptions set sealed_secret = ${to} where id = ${id} and sealed_secret = ${from}`;
  return count === 1;
}

/** A subscription as operators see it. */
export interface OperatedSubscription extends Subscription {
  organizationSlug: string;
  /** The ceiling on its attempts. Null: none. */
  maxPerSecond: number | null;
  /** Since when an operator holds it. Null: not held. */
  heldAt: Date | null;
}

/** A position in a list of subscriptions. The first two members count only in the order `failing`. */
type SubscriptionPosition = Pick<Subscription, "createdAt" | "id"> & {
  isDisabled: boolean;
  failures: number;
};

/** Returns subscriptions, newest first by default, auto-disabled ones included, deleted ones not. */
export async function listSubscriptions(
  db: Queryable,
  {
    organizationId = null,
    active = null,
    order = "newest",
    after = null,
    limit,
  }: {
    organizationId?: OrganizationId | null;
    active?: boolean | null;
    order?: SubscriptionOrder;
    after?: SubscriptionPosition | null;
    limit: number;
  },
): Promise<OperatedSubscription[]> {
  const isNewest = order === "newest";
  return db<OperatedSubscription[]>`
    select ${subscriptionColumns(db)}, ${selectForOperators(db)}
      from subscriptions
     where deleted_at is null
       ${organizationId === null ? db`` : db`and organization_id = ${organizationId}`}
       ${active === null ? db`` : db`and (auto_disabled_at is null) = ${active}`}
       ${
         after === null
           ? db``
           : isNewest
             ? db`and (created_at, id) < (${after.createdAt}, ${after.id})`
             : db`and (auto_disabled_at is not null, consecutive_failures, created_at, id)
                   < (${after.isDisabled}::boolean, ${after.failures}::int, ${after.createdAt}::timestamptz, ${after.id}::uuid)`
       }
     order by ${isNewest ? db`` : db`auto_disabled_at is not null desc, consecutive_failures desc,`} created_at desc, id desc
     limit ${limit}`;
}

/** Null if absent or deleted. */
export async function findOperatedSubscription(
  db: Queryable,
  id: SubscriptionId,
): Promise<OperatedSubscription | null> {
  const [row] = await db<OperatedSubscription[]>`
    select ${subscriptionColumns(db)}, ${selectForOperators(db)}
      from subscriptions
     where id = ${id} and deleted_at is null`;
  return row ?? null;
}

function selectForOperators(db: Queryable) {
  return db`
    (select slug from organizations o where o.id = subscriptions.organization_id) as "organizationSlug",
    (select max_per_second from subscription_ceilings c where c.subscription_id = subscriptions.id) as "maxPerSecond",
    (select held_at from subscription_ceilings c where c.subscription_id = subscriptions.id) as "heldAt"`;
}

/** Returns the subscriptions that were auto-disabled since then, deleted ones included, latest first. */
export async function listDisabled(
  db: Queryable,
  since: Date,
  limit: number,
): Promise<{ host: string | null; at: Date }[]> {
  return db<{ host: string | null; at: Date }[]>`
    select host, auto_disabled_at as at
      from subscriptions
     where auto_disabled_at >= ${since}
     order by auto_disabled_at desc
     limit ${limit}`;
}

/** A subscription that an operator holds. */
export interface HeldSubscription {
  id: SubscriptionId;
  organizationId: OrganizationId;
  organizationSlug: string;
  url: string;
  heldAt: Date;
}

/** Returns the subscriptions that have been held the longest. */
export async function listHeld(db: Queryable, limit: number): Promise<HeldSubscription[]> {
  return db<HeldSubscription[]>`
    select s.id, s.organization_id as "organizationId", o.slug as "organizationSlug", s.url, c.held_at as "heldAt"
      from subscription_ceilings c
      join subscriptions s on s.id = c.subscription_id
      join organizations o on o.id = s.organization_id
     where c.held_at is not null
     order by c.held_at
     limit ${limit}`;
}
