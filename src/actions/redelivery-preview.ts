import type { SubscriptionId } from "../domain/ids.ts";
import { statesOf } from "../domain/redelivery.ts";
import type { Queryable } from "../postgres/database.ts";
import { searchDeliveries } from "../postgres/delivery-search.ts";
import type { RedeliveryFilter } from "../postgres/redelivery-jobs.ts";
import { COUNTED_MAX, countMatching } from "../postgres/redelivery-scan.ts";
import { findOwners } from "./owners.ts";
import { type DeliveryView, viewDelivery } from "./views/delivery.ts";

/** How many deliveries a preview shows. */
const SAMPLE_MAX = 10;

export async function countRedeliverable(
  db: Queryable,
  filter: RedeliveryFilter & { created_at: Date },
): Promise<{ count: number; estimated: boolean; already_redelivered: number }> {
  const subscriptionIds = await ownersOf(db, filter);
  const states = statesOf(filter.delivery_state);
  const { count, redelivered } = await countMatching(db, filter, { subscriptionIds, states });
  const estimated = count > COUNTED_MAX;
  return { count, estimated, already_redelivered: redelivered };
}

/** Returns the newest deliveries that match. */
export async function sampleOf(db: Queryable, filter: RedeliveryFilter): Promise<DeliveryView[]> {
  const { reason, event_id: eventId, event_type: eventType, since, until } = filter;
  const search = { reason, eventId, eventType, since, until };
  const subscriptionIds = await ownersOf(db, filter);
  const page = { after: null, limit: SAMPLE_MAX };
  const found = await Promise.all(
    statesOf(filter.delivery_state).map((state) =>
      searchDeliveries(db, { ...search, subscriptionIds, state }, page),
    ),
  );
  return found
    .flatMap(({ rows }) => rows)
    .toSorted((one, other) => (one.id < other.id ? 1 : -1))
    .slice(0, SAMPLE_MAX)
    .map((row) => viewDelivery(row));
}

async function ownersOf(db: Queryable, filter: RedeliveryFilter): Promise<SubscriptionId[]> {
  const { organization_id: organizationId, subscription_id: subscriptionId } = filter;
  return (await findOwners(db, { organizationId, subscriptionId, host: null })) ?? [];
}
