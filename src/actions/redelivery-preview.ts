import { statesOf } from "../domain/redelivery.ts";
import type { Queryable } from "../postgres/database.ts";
import { searchDeliveries } from "../postgres/delivery-search.ts";
import type { RedeliveryFilter } from "../postgres/redelivery-jobs.ts";
import { countMatching } from "../postgres/redelivery-scan.ts";
import { listSubscriptionIds } from "../postgres/subscriptions.ts";
import { findOwners, OWNERS_MAX } from "./owners.ts";
import { type DeliveryView, viewDelivery } from "./views/delivery.ts";

/** How many deliveries a preview shows. */
const SAMPLE_MAX = 10;

/** Counts the deliveries that match. Reads a bounded number of deliveries. */
export async function countRedeliverable(
  db: Queryable,
  filter: RedeliveryFilter & { createdAt: Date },
): Promise<{ count: number; estimated: boolean; already_redelivered: number }> {
  const { organizationId, subscriptionId } = filter;
  const owners = { organizationId, subscriptionId, host: null };
  const ids = await listSubscriptionIds(db, { ...owners, limit: OWNERS_MAX + 1 });
  const { count, redelivered, isCut } = await countMatching(db, filter, {
    subscriptionIds: ids.slice(0, OWNERS_MAX),
    states: statesOf(filter.deliveryState),
  });
  const estimated = isCut || ids.length > OWNERS_MAX;
  return { count, estimated, already_redelivered: redelivered };
}

/** Returns the newest deliveries that match. */
export async function sampleOf(db: Queryable, filter: RedeliveryFilter): Promise<DeliveryView[]> {
  const { organizationId, subscriptionId, deliveryState, ...search } = filter;
  const owners = await findOwners(db, { organizationId, subscriptionId, host: null });
  const page = { after: null, limit: SAMPLE_MAX };
  const found = await Promise.all(
    statesOf(deliveryState).map((state) =>
      searchDeliveries(db, { ...search, ...owners, state }, page),
    ),
  );
  return found
    .flatMap(({ rows }) => rows)
    .toSorted((one, other) => (one.id < other.id ? 1 : -1))
    .slice(0, SAMPLE_MAX)
    .map((row) => viewDelivery(row));
}
