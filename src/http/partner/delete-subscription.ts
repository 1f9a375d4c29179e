import type { Dependencies } from "../../actions/dependencies.ts";
import { Type } from "typebox";
import { deleteSubscription } from "../../actions/subscriptions.ts";
import { parseId } from "../../domain/ids.ts";
import type { App } from "../app.ts";
import { SubscriptionParams } from "../subscription-schema.ts";
import { partnerProblems } from "./operation.ts";
import { callerOf } from "./caller.ts";

export function deleteSubscriptionRoute(app: App, deps: Dependencies): void {
  app.delete(
    "/webhooks/:id",
    {
      config: { scope: "webhooks:manage" },
      schema: {
        operationId: "deleteSubscription",
        tags: ["Subscriptions"],
        summary: "Delete a subscription",
        description: "Cancels its queued deliveries and erases its secret.",
        params: SubscriptionParams,
        response: {
          204: Type.Null({ description: "The subscription is deleted." }),
          ...partnerProblems("not_found"),
        },
      },
    },
    async (request, reply) => {
      const { organizationId } = callerOf(request);
      await deleteSubscription(deps, organizationId, parseId("wh", request.params.id));
      return reply.code(204).send(null);
    },
  );
}
