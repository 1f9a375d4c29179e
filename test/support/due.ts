import type { DueSubscription } from "../../src/actions/reservation.ts";

/** Subscriptions that have something due, each of an organization of its own. */
export function dueOf(...ids: string[]): DueSubscription[] {
  return ids.map((id) => ({ subscription_id: id, organization_id: `owner of ${id}` }));
}
