import { Type } from "typebox";
import type { Dependencies } from "../../actions/dependencies.ts";
import { deleteSubscription } from "../../actions/subscriptions.ts";
import { parseId } from "../../domain/ids.ts";
import type { App } from "../app.ts";
import { SubscriptionParams } from "../subscription-schema.ts";
import { partnerProblems } from "./operation.ts";

export function deleteSubscriptionRoute(app: App, deps: Dependencies): void {
  app.delete(
    "/webhooks/:id",
    {
      config: { scope: "webhooks:manage" },
      schema: {
        operationId: "deleteSubscription",
        summary: "Delete a subscription",
        description: "What is queued for it is cancelled, and its secret is erased.",
        params: SubscriptionParams,
        response: {
          204: Type.Null({ description: "The subscription is gone." }),
          ...partnerProblems("not_found"),
        },
      },
    },
    async ({ caller, params }, reply) => {
      await deleteSubscription(deps, caller.organizationId, parseId("wh", params.id));
      return reply.code(204).send(null);
    },
  );
}
