import { Busy, noSuch } from "../domain/errors.ts";
import type { OrganizationId } from "../domain/ids.ts";
import { groupBy } from "../lib/group-by.ts";
import type { OrganizationName, Organization } from "../postgres/organizations.ts";
import { findAnywhere, isAbsent, isAway } from "./everywhere.ts";
import type { NewEvent } from "../domain/event.ts";
import type { Published } from "./publication.ts";
import type { PublishingParts } from "./publish-events.ts";
import { toTheEnd } from "./reach.ts";
import { depsOf, type Shard, type Shards } from "./shards.ts";

/**
 * The dependencies of a request that publishes in all shards. Each shard has a transaction of its own: if one fails, the others are
 * written, and the request can be repeated with its dedupe keys.
 */
export function publishingEverywhere(shards: Shards): PublishingParts {
  if (shards.others.length === 0) return depsOf(shards.home);
  const places = new Map<OrganizationId, Shard>();
  const { eventTypes, retentionMs } = shards.settings;
  return {
    eventTypes,
    retentionMs,
    clock: shards.clock,
    batched: { findOrganization, publishAll },
  };

  async function findOrganization(name: OrganizationName): Promise<Organization | null> {
    try {
      return await findAnywhere(shards, async ({ batched }, shard) => {
        const found = await batched.findOrganization(name);
        if (!found) throw noSuch("organization");
        places.set(found.id, shard);
        return found;
      });
    } catch (error) {
      if (isAbsent(error)) return null;
      throw error;
    }
  }

  async function publishAll(events: NewEvent[]): Promise<Published[]> {
    const published = new Map<NewEvent, Published>();
    const parts = groupBy(events, ({ organizationId }) => places.get(organizationId));
    const results = await Promise.allSettled(
      [...parts].map(async ([shard, part]) => {
        if (!shard) return;
        const written = await toTheEnd(shard, ({ batched }) => batched.publishAll(part));
        written.forEach((one, i) => part[i] && published.set(part[i], one));
      }),
    );
    const failures = results.filter((result) => result.status === "rejected");
    const lasting = failures.find(({ reason }) => !isAway(reason));
    if (lasting) throw lasting.reason;
    const [first] = failures;
    if (first) throw parts.size === 1 ? first.reason : partlyPublished(first.reason);
    return events.flatMap((event) => published.get(event) ?? []);
  }
}

function partlyPublished(cause: unknown): Busy {
  const detail =
    "A shard failed, so some events are not published. Repeat the request with the same dedupe keys.";
  return Object.assign(new Busy(detail), { cause });
}
