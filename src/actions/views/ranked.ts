import { hostOf } from "../../egress/index.ts";
import { publicId } from "../../domain/ids.ts";
import type { NearLimit, RankedSubscription } from "../../postgres/activity.ts";
import { viewAttempts } from "./activity.ts";

/**
 * A subscription that fails often or is slow, with its numbers of the last hour. `measure`, by which it is ranked, is for
 * gateways.
 */
export type RankedView = Omit<ReturnType<typeof viewRanked>, "measure"> & { measure?: number };

/** An organization that came near its rate limit in the last hour. */
export type NearLimitView = ReturnType<typeof viewNearLimit>;

export function viewRanked(row: RankedSubscription) {
  return {
    id: publicId("wh", row.id),
    organization: { id: publicId("org", row.organizationId), slug: row.slug },
    url: row.url,
    host: hostOf(row.url),
    active: row.autoDisabledAt === null,
    consecutive_failures: row.consecutiveFailures,
    attempts: row.succeeded + row.failed,
    failed: row.failed,
    ...viewAttempts([row], { isMergeable: true }),
    measure: row.measure,
  };
}

export function viewNearLimit(row: NearLimit) {
  return {
    organization: { id: publicId("org", row.id), slug: row.slug },
    rate_limit_per_minute: row.rateLimitPerMinute,
    busiest_minute: row.busiestMinute,
    rate_limited: row.rateLimited,
  };
}
