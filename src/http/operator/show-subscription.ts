import { Type } from "typebox";
import { getSubscriptionHealth } from "../../actions/health.ts";
import { parseId } from "../../domain/ids.ts";
import type { Dependencies } from "../../actions/dependencies.ts";
import type { App } from "../app.ts";
import { SubscriptionParams } from "../subscription-schema.ts";
import { Health } from "./health-schema.ts";
import { operatorProblems } from "./operation.ts";
import { OperatedSubscription } from "./subscription-schema.ts";

const SubscriptionDetail = Type.Object(
  { ...OperatedSubscription.properties, health: Health },
  {
    title: "SubscriptionDetail",
    description: "A subscription, with the health of its deliveries.",
  },
);

export function showSubscriptionRoute(app: App, deps: Dependencies): void {
  app.get(
    "/subscriptions/:id",
    {
      config: { spread: "one" },
      schema: {
        operationId: "getSubscription",
        tags: ["Subscriptions"],
        summary: "Show a subscription of any organization",
        description: "With its health.",
        params: SubscriptionParams,
        response: { 200: SubscriptionDetail, ...operatorProblems("not_found") },
      },
    },
    async ({ params }) => getSubscriptionHealth(deps, parseId("wh", params.id)),
  );
}
