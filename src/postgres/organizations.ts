import type { Queryable } from "./database.ts";
import type { OrganizationId } from "../domain/ids.ts";

export interface OrganizationRow {
  id: OrganizationId;
  slug: string;
  rate_limit_per_minute: number;
  created_at: Date;
}

/** Null when the slug is taken. */
export async function insertOrganization(
  db: Queryable,
  row: OrganizationRow,
): Promise<OrganizationRow | null> {
  const [inserted] = await db<OrganizationRow[]>`
    insert into organizations (id, slug, rate_limit_per_minute, created_at)
    values (${row.id}, ${row.slug}, ${row.rate_limit_per_minute}, ${row.created_at})
    on conflict (slug) do nothing
    returning *`;
  return inserted ?? null;
}

/** By bare id or by slug; null if absent. */
export async function findOrganization(
  db: Queryable,
  { id = null, slug = null }: { id?: string | null; slug?: string | null },
): Promise<OrganizationRow | null> {
  const [row] = await db<OrganizationRow[]>`
    select * from organizations where id = ${id} or slug = ${slug}`;
  return row ?? null;
}

export interface OrganizationName {
  id: OrganizationId | null;
  slug: string | null;
}

/** The organizations with these names, in the order of the names. Null if absent. */
export async function findOrganizations(
  db: Queryable,
  names: OrganizationName[],
): Promise<(OrganizationRow | null)[]> {
  const rows = await db<OrganizationRow[]>`
    select * from organizations
     where id = any(${names.flatMap(({ id }) => id ?? [])}::uuid[])
        or slug = any(${names.flatMap(({ slug }) => slug ?? [])}::text[])`;
  const byName = new Map(rows.flatMap((row) => [[row.id, row] as const, [row.slug, row] as const]));
  return names.map(({ id, slug }) => byName.get(id ?? slug ?? "") ?? null);
}

/** By slug, in alphabetical order, beginning behind `after`. */
export async function listOrganizations(
  db: Queryable,
  { after, limit }: { after: string | null; limit: number },
): Promise<OrganizationRow[]> {
  return db<OrganizationRow[]>`
    select * from organizations
     where slug > ${after ?? ""}
     order by slug
     limit ${limit}`;
}

/** Null if absent. */
export async function updateRateLimit(
  db: Queryable,
  id: OrganizationId,
  rateLimitPerMinute: number,
): Promise<OrganizationRow | null> {
  const [row] = await db<OrganizationRow[]>`
    update organizations set rate_limit_per_minute = ${rateLimitPerMinute} where id = ${id} returning *`;
  return row ?? null;
}

/** Holds the organization's row until the transaction ends, so that its subscriptions can be counted exactly. */
export async function lockOrganization(db: Queryable, id: OrganizationId): Promise<void> {
  await db`select from organizations where id = ${id} for no key update`;
}
