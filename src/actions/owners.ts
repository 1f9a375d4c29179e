import type { OrganizationId, SubscriptionId } from "../domain/ids.ts";
import type { Queryable } from "../postgres/database.ts";
import type { DeliveryFilter } from "../postgres/delivery-search.ts";
import { listSubscriptionIds } from "../postgres/subscriptions.ts";

/** The most subscriptions that a search of deliveries names, deleted ones included. */
export const OWNERS_MAX = 1_000;

export interface OwnerQuery {
  subscriptionId: SubscriptionId | null;
  organizationId: OrganizationId | null;
  host: string | null;
}

/**
 * Returns whose deliveries a search is for: the subscriptions, deleted ones included, or a crowd if there are too many. A
 * partner can create and delete any number of them.
 */
export async function findOwners(
  db: Queryable,
  { subscriptionId, organizationId, host }: OwnerQuery,
): Promise<Pick<DeliveryFilter, "subscriptionIds" | "crowd">> {
  if (organizationId === null && host === null) {
    return { subscriptionIds: subscriptionId ? [subscriptionId] : null };
  }
  const limit = OWNERS_MAX + 1;
  const ids = await listSubscriptionIds(db, { subscriptionId, organizationId, host, limit });
  return ids.length <= OWNERS_MAX ? { subscriptionIds: ids } : { crowd: { organizationId, host } };
}
