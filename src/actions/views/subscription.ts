import { publicId } from "../../domain/ids.ts";
import type { OperatedSubscription } from "../../postgres/subscription-list.ts";
import type { Subscription } from "../../postgres/subscriptions.ts";

/** A subscription as partners and operators see it, without its secret. */
export interface SubscriptionView {
  id: string;
  organization_id: string;
  url: string;
  events: string[];
  active: boolean;
  auto_disabled_at: string | null;
  consecutive_failures: number;
  created_at: string;
}

/** The same, with members for operators only. */
export interface OperatedSubscriptionView extends SubscriptionView {
  organization: { id: string; slug: string };
  max_per_second: number | null;
}

export function viewOperatedSubscription(row: OperatedSubscription): OperatedSubscriptionView {
  const view = viewSubscription(row);
  return {
    ...view,
    organization: { id: view.organization_id, slug: row.organizationSlug },
    max_per_second: row.maxPerSecond,
  };
}

export function viewSubscription(row: Subscription): SubscriptionView {
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
