import { noSuch, PartnerError, requireNoFaults } from "../../lib/errors.ts";
import { publicId, randomId } from "../../lib/ids.ts";
import { countCancelled } from "../activity/counted.ts";
import { cancelWaiting } from "../deliveries/cancellation-sql.ts";
import type { Dependencies } from "../dependencies.ts";
import { revokeKeysOf } from "../keys/sql.ts";
import { deleteHolds, deleteSubscriptionsOf } from "../subscriptions/sql.ts";
import { organizationName, RATE_LIMIT_DEFAULT, rateLimitFaults, slugFaults } from "./rules.ts";
import {
  closeOrganization as close,
  findOrganization,
  insertOrganization,
  type Organization,
  reserveSlug as reserve,
  updateRateLimit,
} from "./sql.ts";

interface OrganizationRequest {
  slug: string;
  rateLimitPerMinute?: number | undefined;
}

export async function createOrganization(
  { db, clock, cell }: Pick<Dependencies, "db" | "clock" | "cell">,
  { slug, rateLimitPerMinute = RATE_LIMIT_DEFAULT }: OrganizationRequest,
): Promise<Organization> {
  requireNoFaults([...slugFaults(slug), ...rateLimitFaults(rateLimitPerMinute)]);
  const organization = await insertOrganization(
    db,
    { id: randomId(), slug, rateLimitPerMinute, createdAt: clock() },
    cell,
  );
  if (!organization) throw slugTaken();
  return organization;
}

/**
 * Reserves a slug for an organization of a cell. Called in the first cell of a gateway, which knows all slugs. Returns the cell
 * that it is reserved for, now or before.
 */
export async function reserveSlug(
  { db }: Pick<Dependencies, "db">,
  slug: string,
  cell: string,
): Promise<string> {
  const reserved = await reserve(db, slug, cell);
  if (reserved === null) throw slugTaken();
  return reserved;
}

export function slugTaken(): PartnerError {
  return new PartnerError("slug_taken", "An organization has this slug already.");
}

/** Takes `org_<uuid>` or a slug. By default a closed one counts as absent. */
export async function getOrganization(
  { db }: Pick<Dependencies, "db">,
  name: string,
  options?: { withClosed: boolean },
): Promise<Organization> {
  const organization = await findOrganization(db, organizationName(name), options);
  if (!organization) throw noSuch("organization");
  return organization;
}

/** Sets the rate limit that all keys of the organization share, from the next request on. */
export async function setRateLimit(
  { db }: Pick<Dependencies, "db">,
  name: string,
  rateLimitPerMinute: number,
): Promise<Organization> {
  requireNoFaults(rateLimitFaults(rateLimitPerMinute));
  const { id } = await getOrganization({ db }, name);
  const organization = await updateRateLimit(db, id, rateLimitPerMinute);
  if (!organization) throw noSuch("organization");
  return organization;
}

/**
 * Closes an organization for good: revokes its keys, deletes its subscriptions and their secrets, and cancels their queues.
 * Repeating this changes nothing. Its history stays, and its slug is never given to another one.
 */
export async function closeOrganization(
  {
    db,
    clock,
    cancelling,
    activity,
  }: Pick<Dependencies, "db" | "clock" | "cancelling" | "activity">,
  name: string,
): Promise<Organization> {
  const { id } = await getOrganization({ db }, name, { withClosed: true });
  const { organization, deleted, counts, isSomeLeft } = await db.begin(async (tx) => {
    const now = clock();
    const organization = await close(tx, id, now);
    if (!organization) throw noSuch("organization");
    await revokeKeysOf(tx, id, now);
    const deleted = await deleteSubscriptionsOf(tx, id, now);
    await deleteHolds(tx, deleted);
    return { organization, deleted, ...(await cancelWaiting(tx, deleted, now)) };
  });
  countCancelled(activity, counts);
  if (isSomeLeft) deleted.forEach(cancelling.cancelRest);
  return organization;
}

/** An organization as operators see it. */
export type OrganizationView = ReturnType<typeof viewOrganization>;

export function viewOrganization(row: Organization) {
  return {
    id: publicId("org", row.id),
    slug: row.slug,
    rate_limit_per_minute: row.rateLimitPerMinute,
    created_at: row.createdAt.toISOString(),
  };
}
