import type { DueSubscription } from "../../src/actions/reservation.ts";

/** Due subscriptions, each of its own organization. */
export function dueOf(...ids: string[]): DueSubscription[] {
  return ids.map((id) => ({ subscription_id: id, organization_id: `owner of ${id}` }));
}
