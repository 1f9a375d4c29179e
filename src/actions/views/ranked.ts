import { hostOf } from "../../domain/destination-url.ts";
import { publicId } from "../../domain/ids.ts";
import type { Latency } from "../../domain/latency-histogram.ts";
import type { NearLimit, RankedSubscription } from "../../postgres/activity.ts";
import { viewAttempts } from "./activity.ts";

/** A subscription that fails often or is slow, with its numbers of the last hour. */
export interface RankedView {
  id: string;
  organization: { id: string; slug: string };
  url: string;
  host: string;
  active: boolean;
  consecutive_failures: number;
  attempts: number;
  failed: number;
  success_share: number | null;
  attempt_ms: Latency;
}

export function viewRanked(row: RankedSubscription): RankedView {
  return {
    id: publicId("wh", row.id),
    organization: { id: publicId("org", row.organizationId), slug: row.slug },
    url: row.url,
    host: hostOf(row.url),
    active: row.autoDisabledAt === null,
    consecutive_failures: row.consecutiveFailures,
    attempts: row.succeeded + row.failed,
    failed: row.failed,
    ...viewAttempts([row]),
  };
}

/** An organization that came near its rate limit in the last hour. */
export interface NearLimitView {
  organization: { id: string; slug: string };
  rate_limit_per_minute: number;
  busiest_minute: number;
  rate_limited: number;
}

export function viewNearLimit(row: NearLimit): NearLimitView {
  return {
    organization: { id: publicId("org", row.id), slug: row.slug },
    rate_limit_per_minute: row.rateLimitPerMinute,
    busiest_minute: row.busiestMinute,
    rate_limited: row.rateLimited,
  };
}
