import { PartnerError } from "../domain/errors.ts";
import { requireNoFaults } from "../domain/faults.ts";
import { parseId, randomId } from "../domain/ids.ts";
import { RATE_LIMIT_DEFAULT, rateLimitFaults, SLUG, slugFaults } from "../domain/organization.ts";
import {
  findOrganization,
  insertOrganization,
  type OrganizationRow,
  updateRateLimit,
} from "../postgres/organizations.ts";
import type { Dependencies } from "./dependencies.ts";

export async function createOrganization(
  { db, clock }: Pick<Dependencies, "db" | "clock">,
  {
    slug,
    rateLimitPerMinute = RATE_LIMIT_DEFAULT,
  }: { slug: string; rateLimitPerMinute?: number | undefined },
): Promise<OrganizationRow> {
  requireNoFaults([...slugFaults(slug), ...rateLimitFaults(rateLimitPerMinute)]);
  const organization = await insertOrganization(db, {
    id: randomId(),
    slug,
    rate_limit_per_minute: rateLimitPerMinute,
    created_at: clock(),
  });
  if (!organization) throw new PartnerError("slug_taken", "An organization has this slug already.");
  return organization;
}

/** By `org_<uuid>` or by slug. */
export async function getOrganization(
  { db }: Pick<Dependencies, "db">,
  name: string,
): Promise<OrganizationRow> {
  const names = { id: parseId("org", name), slug: SLUG.test(name) ? name : null };
  const organization = await findOrganization(db, names);
  if (!organization) throw noSuchOrganization();
  return organization;
}

/** Changes the limit that all keys of the organization share; it holds from the next request on. */
export async function setRateLimit(
  { db }: Pick<Dependencies, "db">,
  name: string,
  rateLimitPerMinute: number,
): Promise<OrganizationRow> {
  requireNoFaults(rateLimitFaults(rateLimitPerMinute));
  const { id } = await getOrganization({ db }, name);
  const organization = await updateRateLimit(db, id, rateLimitPerMinute);
  if (!organization) throw noSuchOrganization();
  return organization;
}

function noSuchOrganization(): PartnerError {
  return new PartnerError("not_found", "There is no such organization.");
}
