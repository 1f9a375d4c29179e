import { pageOfFailures } from "../../actions/failures.ts";
import { parseId } from "../../domain/ids.ts";
import type { Dependencies } from "../../actions/dependencies.ts";
import type { App } from "../app.ts";
import { FailuresPage } from "../failure-schema.ts";
import { PageQuery, readByHand, readPageRequest } from "../page-schema.ts";
import { SubscriptionParams } from "../subscription-schema.ts";
import { operatorProblems } from "./operation.ts";

export function listFailuresRoute(app: App, deps: Dependencies): void {
  app.get(
    "/subscriptions/:id/failures",
    {
      config: { spread: "one" },
      schema: {
        operationId: "listFailuresOfSubscription",
        tags: ["Subscriptions"],
        summary: "Read the failures audit of a subscription",
        description:
          "Every failed attempt of its deliveries, newest first, as the partner sees it.",
        params: SubscriptionParams,
        querystring: PageQuery,
        response: { 200: FailuresPage, ...operatorProblems("not_found", "invalid_request") },
      },
      validatorCompiler: readByHand,
    },
    async ({ params, query }) =>
      pageOfFailures(deps, null, { id: parseId("wh", params.id), ...readPageRequest(query) }),
  );
}
