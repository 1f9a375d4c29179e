import type { DueSubscription } from "../../src/domain/due-notice.ts";

/** Due subscriptions, each of its own organization. */
export function dueOf(...ids: string[]): DueSubscription[] {
  return ids.map((id) => ({ subscriptionId: id, organizationId: `owner of ${id}` }));
}
