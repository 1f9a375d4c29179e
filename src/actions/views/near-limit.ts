import { publicId } from "../../domain/ids.ts";
import type { NearLimit } from "../../postgres/activity.ts";

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
