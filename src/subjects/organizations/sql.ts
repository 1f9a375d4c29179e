import type { OrganizationId } from "../../lib/ids.ts";
import type { Queryable } from "../../postgres/database.ts";
import type { OrganizationName } from "./rules.ts";

export interface Organization {
  id: OrganizationId;
  slug: string;
  rateLimitPerMinute: number;
  createdAt: Date;
}

function columns(db: Queryable) {
  return db`id, slug, rate_limit_per_minute as "rateLimitPerMinute", created_at as "createdAt"`;
}

/**
 * Reserves the slug for the cell and inserts the organization. Null if the slug is taken, even by a closed organization, or
 * reserved for another cell.
 */
export async function insertOrganization(
  db: Queryable,
  organization: Organization,
  cell: string,
): Promise<Organization | null> {
  const { id, slug, rateLimitPerMinute, createdAt } = organization;
  const [inserted] = await db<Organization[]>`
    with reserved as (
      insert into slugs (slug, cell) values (${slug}, ${cell})
      on conflict (slug) do nothing
      returning cell
    ), held as (
      select cell from reserved union all select cell from slugs where slug = ${slug}
    )
    insert into organizations (id, slug, rate_limit_per_minute, created_at)
    select ${id}::uuid, ${slug}::text, ${rateLimitPerMinute}::int, ${createdAt}::timestamptz
     where exists (select from held where cell = ${cell})
    on conflict (slug) do nothing
    returning ${columns(db)}`;
  return inserted ?? null;
}

/**
 * Reserves a slug for an organization of a cell. Called in the first cell, which knows all slugs. Returns the cell that it is
 * reserved for, now or before. Null if an organization of this database has it.
 */
export async function reserveSlug(
  db: Queryable,
  slug: string,
  cell: string,
): Promise<string | null> {
  await db`
    insert into slugs (slug, cell)
    select ${slug}, ${cell} where not exists (select from organizations where slug = ${slug})
    on conflict (slug) do nothing`;
  const [row] = await db<{ cell: string }[]>`select cell from slugs where slug = ${slug}`;
  return row?.cell ?? null;
}

export async function countOrganizations(db: Queryable): Promise<number> {
  const [row] = await db<[{ count: number }]>`
    select count(*)::int as count from organizations where closed_at is null`;
  return row.count;
}

/** Finds an organization by bare id or by slug. Null if absent. Closed ones count as absent unless they are asked for. */
export async function findOrganization(
  db: Queryable,
  { id = null, slug = null }: { id?: OrganizationId | null; slug?: string | null },
  { withClosed = false } = {},
): Promise<Organization | null> {
  const [row] = await db<Organization[]>`
    select ${columns(db)} from organizations
     where (id = ${id} or slug = ${slug}) ${withClosed ? db`` : db`and closed_at is null`}`;
  return row ?? null;
}

function isAmong(db: Queryable, names: OrganizationName[]) {
  return db`(id = any(${names.flatMap(({ id }) => id ?? [])}::uuid[])
             or slug = any(${names.flatMap(({ slug }) => slug ?? [])}::text[]))`;
}

/** Finds organizations by name, in the same order. Null for each that is absent, or closed unless those are asked for. */
export async function findOrganizations(
  db: Queryable,
  names: OrganizationName[],
  { withClosed = false } = {},
): Promise<(Organization | null)[]> {
  const rows = await db<Organization[]>`
    select ${columns(db)} from organizations
     where ${isAmong(db, names)} ${withClosed ? db`` : db`and closed_at is null`}`;
  const byName = new Map(rows.flatMap((row) => [[row.id, row] as const, [row.slug, row] as const]));
  return names.map(({ id, slug }) => byName.get(id ?? slug ?? "") ?? null);
}

/** Returns organizations in order of slug, byte by byte, after `after`. Leaves closed ones out. `names`: null for all. */
export async function listOrganizations(
  db: Queryable,
  names: OrganizationName[] | null,
  { after, limit }: { after: string | null; limit: number },
): Promise<Organization[]> {
  return db<Organization[]>`
    select ${columns(db)} from organizations
     where slug ~>~ ${after ?? ""} and closed_at is null ${names === null ? db`` : db`and ${isAmong(db, names)}`}
     order by slug using ~<~
     limit ${limit}`;
}

/** Null if absent or closed. */
export async function updateRateLimit(
  db: Queryable,
  id: OrganizationId,
  rateLimitPerMinute: number,
): Promise<Organization | null> {
  const [row] = await db<Organization[]>`
    update organizations set rate_limit_per_minute = ${rateLimitPerMinute}
     where id = ${id} and closed_at is null
    returning ${columns(db)}`;
  return row ?? null;
}

/**
 * Locks the organization's row until the transaction ends, so that its subscriptions can be counted exactly. Returns false if
 * the organization is closed.
 */
export async function lockOrganization(db: Queryable, id: OrganizationId): Promise<boolean> {
  const { count } = await db`
    select from organizations where id = ${id} and closed_at is null for no key update`;
  return count === 1;
}

/** Closes the organization for good. Closing again changes nothing. Returns null if absent. */
export async function closeOrganization(
  tx: Queryable,
  id: OrganizationId,
  now: Date,
): Promise<Organization | null> {
  const [row] = await tx<Organization[]>`
    update organizations set closed_at = coalesce(closed_at, ${now}) where id = ${id}
    returning ${columns(tx)}`;
  return row ?? null;
}
