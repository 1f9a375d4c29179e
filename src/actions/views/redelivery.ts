import { publicId } from "../../domain/ids.ts";
import type { RedeliveryState } from "../../domain/redelivery.ts";
import type { JobRow } from "../../postgres/redelivery-jobs.ts";

/** A job that sends deliveries again, as operators see it. */
export interface RedeliveryView {
  id: string;
  state: RedeliveryState;
  filter: {
    organization: string;
    subscription: string | null;
    state: string | null;
    reason: string | null;
    event: string | null;
    since: string | null;
    until: string | null;
  };
  to: string | null;
  rate_per_second: number;
  total: number;
  done: number;
  skipped: number;
  failed: number;
  created_by: string;
  created_at: string;
  finished_at: string | null;
}

export function viewRedelivery(row: JobRow): RedeliveryView {
  return {
    id: publicId("rdl", row.id),
    state: row.state,
    filter: {
      organization: publicId("org", row.organization_id),
      subscription: row.subscription_id && publicId("wh", row.subscription_id),
      state: row.delivery_state,
      reason: row.reason,
      event: row.event_id === null ? row.event_type : publicId("evt", row.event_id),
      since: row.since?.toISOString() ?? null,
      until: row.until?.toISOString() ?? null,
    },
    to: row.to_subscription_id && publicId("wh", row.to_subscription_id),
    rate_per_second: row.rate_per_second,
    total: row.total,
    done: row.done,
    skipped: row.skipped,
    failed: row.failed,
    created_by: row.created_by,
    created_at: row.created_at.toISOString(),
    finished_at: row.finished_at?.toISOString() ?? null,
  };
}
