import { pageOfRedeliveries } from "../../actions/redeliveries.ts";
import type { Dependencies } from "../../actions/dependencies.ts";
import type { App } from "../app.ts";
import { PageQuery, readByHand, readPageRequest } from "../page-schema.ts";
import { operatorProblems } from "./operation.ts";
import { RedeliveriesPage } from "./redelivery-schema.ts";

export function listRedeliveriesRoute(app: App, deps: Dependencies): void {
  app.get(
    "/redeliveries",
    {
      schema: {
        operationId: "listRedeliveries",
        tags: ["Redeliveries"],
        summary: "List redeliveries",
        description: "Newest first, as far back as the retention period.",
        querystring: PageQuery,
        response: { 200: RedeliveriesPage, ...operatorProblems("invalid_request") },
      },
      validatorCompiler: readByHand,
    },
    async ({ query }) => pageOfRedeliveries(deps, readPageRequest(query)),
  );
}
