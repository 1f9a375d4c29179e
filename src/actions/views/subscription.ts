import { publicId } from "../../domain/ids.ts";
import type { OperatedSubscription } from "../../postgres/subscription-list.ts";
import type { Subscription } from "../../postgres/subscriptions.ts";

/** A subscription as operators see it, without its secret. */
export type OperatedSubscriptionView = ReturnType<typeof viewOperatedSubscription>;

export function viewOperatedSubscription(row: OperatedSubscription) {
  const view = viewSubscription(row);
  return {
    ...view,
    organization: { id: view.organization_id, slug: row.organizationSlug },
    max_per_second: row.maxPerSecond,
  };
}

/** A subscription as partners and operators see it, without its secret. */
export function viewSubscription(row: Subscription) {
  return {
    id: publicId("wh", row.id),
    organization_id: publicId("org", row.organizationId),
    url: row.url,
    events: row.events,
    active: row.autoDisabledAt === null,
    auto_disabled_at: row.autoDisabledAt?.toISOString() ?? null,
    consecutive_failures: row.consecutiveFailures,
    created_at: row.createdAt.toISOString(),
  };
}
