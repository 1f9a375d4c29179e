import type { DueSubscription } from "../../src/queue/rules.ts";

/** Due subscriptions, each of its own organization. */
export function dueOf(...ids: string[]): DueSubscription[] {
  return ids.map((id) => ({ subscriptionId: id, organizationId: `owner of ${id}` }));
}
