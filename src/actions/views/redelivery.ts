import { publicId } from "../../domain/ids.ts";
import type { Job } from "../../postgres/redelivery-jobs.ts";

/** A job that sends deliveries again, as operators see it. */
export type RedeliveryView = ReturnType<typeof viewRedelivery>;

export function viewRedelivery(row: Job) {
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
