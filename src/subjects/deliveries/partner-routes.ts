import type { App } from "../../http/app.ts";
import { callerOf, partnerProblems } from "../../http/partner.ts";
import { PageQuery, readByHand, readPageRequest } from "../../http/schema.ts";
import { parseId } from "../../lib/ids.ts";
import type { Dependencies } from "../dependencies.ts";
import { SubscriptionParams } from "../subscriptions/schema.ts";
import { FailuresPage } from "./schema.ts";
import { pageOfFailures } from "./work.ts";

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
