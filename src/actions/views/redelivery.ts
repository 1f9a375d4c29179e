import { publicId } from "../../domain/ids.ts";
import type { RedeliveryState } from "../../domain/redelivery.ts";
import type { Job } from "../../postgres/redelivery-jobs.ts";

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

export function viewRedelivery(row: Job): RedeliveryView {
  return {
    id: publicId("rdl", row.id),
    state: row.state,
    filter: {
      organization: publicId("org", row.organizationId),
      subscription: row.subscriptionId && publicId("wh", row.subscriptionId),
      state: row.deliveryState,
      reason: row.reason,
      event: row.eventId === null ? row.eventType : publicId("evt", row.eventId),
      since: row.since?.toISOString() ?? null,
      until: row.until?.toISOString() ?? null,
    },
    to: row.toSubscriptionId && publicId("wh", row.toSubscriptionId),
    rate_per_second: row.ratePerSecond,
    total: row.total,
    done: row.done,
    skipped: row.skipped,
    failed: row.failed,
    created_by: row.createdBy,
    created_at: row.createdAt.toISOString(),
    finished_at: row.finishedAt?.toISOString() ?? null,
  };
}
