import { publicId } from "../../domain/ids.ts";
import type { NearLimitRow } from "../../postgres/activity.ts";

/** An organization that came near its rate limit in the last hour. */
export interface NearLimitView {
  organization: { id: string; slug: string };
  rate_limit_per_minute: number;
  busiest_minute: number;
  rate_limited: number;
}

export function viewNearLimit(row: NearLimitRow): NearLimitView {
  const { id, slug, rate_limit_per_minute, busiest_minute, rate_limited } = row;
  return {
    organization: { id: publicId("org", id), slug },
    ...{ rate_limit_per_minute, busiest_minute, rate_limited },
  };
}
