import { setCeiling } from "../../actions/ceilings.ts";
import { viewOperatedSubscription } from "../../actions/views/subscription.ts";
import { parseId } from "../../domain/ids.ts";
import type { Dependencies } from "../../actions/dependencies.ts";
import type { App } from "../app.ts";
import { BODY_PROBLEMS } from "../problem-schema.ts";
import { SubscriptionParams } from "../subscription-schema.ts";
import { logChange, operatorProblems } from "./operation.ts";
import { CeilingRequest, OperatedSubscription } from "./subscription-schema.ts";

export function setCeilingRoute(app: App, deps: Dependencies): void {
  app.patch(
    "/subscriptions/:id",
    {
      config: { spread: "one" },
      schema: {
        operationId: "setCeiling",
        tags: ["Subscriptions"],
        summary: "Limit a subscription's attempts per second",
        description:
          "The ceiling covers all processes together, from the next claim on. Deliveries above it wait without counting as failures.",
        params: SubscriptionParams,
        body: CeilingRequest,
        response: { 200: OperatedSubscription, ...operatorProblems("not_found", ...BODY_PROBLEMS) },
      },
    },
    async (request) => {
      const { max_per_second: maxPerSecond } = request.body;
      const { id } = request.params;
      const changed = viewOperatedSubscription(
        await setCeiling(deps, parseId("wh", id), maxPerSecond),
      );
      logChange(request, "set_ceiling", changed.id);
      return changed;
    },
  );
}
