import type { Dependencies } from "../../actions/dependencies.ts";
import { pageOfFailures } from "../../actions/failures.ts";
import { parseId } from "../../domain/ids.ts";
import type { App } from "../app.ts";
import { PageQuery, readByHand, readPageRequest } from "../page-schema.ts";
import { SubscriptionParams } from "../subscription-schema.ts";
import { FailuresPage } from "../failure-schema.ts";
import { partnerProblems } from "./operation.ts";
import { callerOf } from "./caller.ts";

export function listFailuresRoute(app: App, deps: Dependencies): void {
  app.get(
    "/webhooks/:id/failures",
    {
      config: { scope: "webhooks:manage" },
      schema: {
        operationId: "listFailures",
        tags: ["Deliveries"],
        summary: "Read the failures audit",
        description:
          "Every failed attempt of the subscription's deliveries, newest first. The attempt that dead-lettered its " +
          "delivery has the status `dead_lettered`.",
        params: SubscriptionParams,
        querystring: PageQuery,
        response: { 200: FailuresPage, ...partnerProblems("not_found", "invalid_request") },
      },
      validatorCompiler: readByHand,
    },
    async (request) =>
      pageOfFailures(deps, callerOf(request).organizationId, {
        id: parseId("wh", request.params.id),
        ...readPageRequest(request.query),
      }),
  );
}
