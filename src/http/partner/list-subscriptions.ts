import type { Dependencies } from "../../actions/dependencies.ts";
import { listSubscriptions } from "../../actions/subscriptions.ts";
import { viewSubscription } from "../../actions/views/subscription.ts";
import type { App } from "../app.ts";
import { Subscriptions } from "../subscription-schema.ts";
import { partnerProblems } from "./operation.ts";
import { callerOf } from "./caller.ts";

export function listSubscriptionsRoute(app: App, deps: Dependencies): void {
  app.get(
    "/webhooks",
    {
      config: { scope: "webhooks:manage" },
      schema: {
        operationId: "listSubscriptions",
        tags: ["Subscriptions"],
        summary: "List subscriptions",
        description:
          "All subscriptions of the organization, newest first, including auto-disabled ones. We do not notify you of " +
          "auto-disabling: check `active` and `auto_disabled_at`.",
        response: { 200: Subscriptions, ...partnerProblems() },
      },
    },
    async (request) => {
      const rows = await listSubscriptions(deps, callerOf(request).organizationId);
      return rows.map((row) => viewSubscription(row));
    },
  );
}
