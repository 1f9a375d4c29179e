import { Type } from "typebox";
import { deleteSubscription } from "../../actions/subscriptions.ts";
import { parseId } from "../../domain/ids.ts";
import type { Dependencies } from "../../actions/dependencies.ts";
import type { App } from "../app.ts";
import { SubscriptionParams } from "../subscription-schema.ts";
import { logChange, operatorProblems } from "./operation.ts";

export function deleteSubscriptionRoute(app: App, deps: Dependencies): void {
  app.delete(
    "/subscriptions/:id",
    {
      config: { spread: "one" },
      schema: {
        operationId: "deleteAnySubscription",
        tags: ["Subscriptions"],
        summary: "Delete a subscription of any organization",
        description: "Cancels its queued deliveries and erases its secret.",
        params: SubscriptionParams,
        response: {
          204: Type.Null({ description: "The subscription is deleted." }),
          ...operatorProblems("not_found"),
        },
      },
    },
    async (request, reply) => {
      const { id } = request.params;
      await deleteSubscription(deps, null, parseId("wh", id));
      logChange(request, "delete_subscription", id);
      return reply.code(204).send(null);
    },
  );
}
