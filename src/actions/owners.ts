import { invalidRequest } from "../domain/errors.ts";
import type { OrganizationId, SubscriptionId } from "../domain/ids.ts";
import type { Queryable } from "../postgres/database.ts";
import { listSubscriptionIds } from "../postgres/subscriptions.ts";

/** The most subscriptions in one search of deliveries, deleted ones included. */
export const OWNERS_MAX = 1_000;

/** Returns the subscriptions that a search of deliveries names, deleted ones included. Null if it names none. */
export async function findOwners(
  db: Queryable,
  {
    subscriptionId,
    organizationId,
    host,
  }: {
    subscriptionId: SubscriptionId | null;
    organizationId: OrganizationId | null;
    host: string | null;
  },
): Promise<SubscriptionId[] | null> {
  if (organizationId === null && host === null) return subscriptionId ? [subscriptionId] : null;
  const limit = OWNERS_MAX + 1;
  const ids = await listSubscriptionIds(db, { subscriptionId, organizationId, host, limit });
  if (ids.length <= OWNERS_MAX) return ids;
  const detail = `has more than ${OWNERS_MAX} subscriptions, deleted ones included: name one`;
  throw invalidRequest([{ pointer: host === null ? "/organization" : "/host", detail }]);
}
