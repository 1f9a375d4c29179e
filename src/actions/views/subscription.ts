import { publicId } from "../../domain/ids.ts";
import type { OperatedSubscriptionRow } from "../../postgres/subscription-list.ts";
import type { SubscriptionRow } from "../../postgres/subscriptions.ts";

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

export function viewOperatedSubscription(row: OperatedSubscriptionRow): OperatedSubscriptionView {
  const view = viewSubscription(row);
  return {
    ...view,
    organization: { id: view.organization_id, slug: row.organization_slug },
    max_per_second: row.max_per_second,
  };
}

export function viewSubscription(row: SubscriptionRow): SubscriptionView {
  return {
    id: publicId("wh", row.id),
    organization_id: publicId("org", row.organization_id),
    url: row.url,
    events: row.events,
    active: row.auto_disabled_at === null,
    auto_disabled_at: row.auto_disabled_at?.toISOString() ?? null,
    consecutive_failures: row.consecutive_failures,
    created_at: row.created_at.toISOString(),
  };
}
