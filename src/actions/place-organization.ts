import { Busy, invalidRequest, PartnerError } from "../domain/errors.ts";
import { countOrganizations, type Organization, reserveSlug } from "../postgres/organizations.ts";
import { everywhere, isAway } from "./everywhere.ts";
import { createOrganization, type OrganizationRequest } from "./organizations.ts";
import { inReach, toTheEnd } from "./reach.ts";
import { depsOf, type Shards } from "./shards.ts";

/**
 * Creates an organization in the shard that is named, or in the one with the fewest. The home shard reserves the slug first. A
 * slug that was reserved without success is given to the next one who asks for it, in the same shard.
 */
export async function placeOrganization(
  shards: Shards,
  { shard: wanted, ...request }: OrganizationRequest & { shard?: string | undefined },
): Promise<Organization & { shard: string }> {
  const names = shards.all.map(({ name }) => name);
  if (wanted !== undefined && !names.includes(wanted)) {
    throw invalidRequest([{ pointer: "/shard", detail: `must be one of ${names.join(", ")}` }]);
  }
  if (shards.others.length === 0) {
    const home = depsOf(shards.home);
    return { ...(await createOrganization(home, request)), shard: home.shard };
  }
  const chosen = wanted ?? (await findSmallest(shards));
  const reserved = await reserve(shards, request.slug, chosen);
  const place = shards.all.find(({ name }) => name === reserved);
  if (!place) throw new PartnerError("slug_taken", "An organization has this slug already.");
  const made = await toTheEnd(place, (deps) => createOrganization(deps, request));
  return { ...made, shard: place.name };
}

async function findSmallest(shards: Shards): Promise<string> {
  const { values } = await everywhere(shards, async ({ db, shard }) => ({
    shard,
    count: await countOrganizations(db),
  }));
  const [smallest = { shard: shards.home.name }] = values.sort((a, b) => a.count - b.count);
  return smallest.shard;
}

async function reserve({ home }: Shards, slug: string, shard: string): Promise<string | null> {
  try {
    return await inReach(home, ({ db }) => reserveSlug(db, slug, shard));
  } catch (error) {
    if (!isAway(error)) throw error;
    const detail = `No answer from the home shard ${home.name}, which holds the slugs. Try again.`;
    throw new Busy(detail);
  }
}
