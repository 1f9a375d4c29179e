import { type OrganizationId, type SubscriptionId, UUID } from "../domain/ids.ts";
import type { Page, PageRequest } from "../domain/page.ts";
import { listFailures } from "../postgres/audit.ts";
import type { Dependencies } from "./dependencies.ts";
import { readPage } from "./pages.ts";
import { getSubscription } from "./subscriptions.ts";
import { type AttemptView, viewAttempt } from "./views/delivery.ts";

const ATTEMPT_ID = new RegExp(`^${UUID}$`);

/**
 * Returns a page of a subscription's failed attempts, newest first. A cursor is valid for its subscription only. If
 * `organizationId` is null, the subscription may be any organization's.
 */
export async function pageOfFailures(
  deps: Pick<Dependencies, "db" | "batched">,
  organizationId: OrganizationId | null,
  { id, ...request }: PageRequest & { id: SubscriptionId | null },
): Promise<Page<AttemptView>> {
  return readPage(request, {
    name: `failures of ${id}`,
    form: ATTEMPT_ID,
    positionOf: (row) => row.id,
    rows: async (after, limit) => {
      const subscription = await getSubscription(deps, organizationId, id);
      return listFailures(deps.db.of(subscription.organizationId), subscription.id, {
        after,
        limit,
      });
    },
    view: viewAttempt,
  });
}
