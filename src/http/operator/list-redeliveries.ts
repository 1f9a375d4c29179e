import { pageOfRedeliveries } from "../../actions/redeliveries.ts";
import type { Dependencies } from "../../actions/dependencies.ts";
import type { App } from "../app.ts";
import { CellsPageQuery, readByHand, readPageRequest } from "../page-schema.ts";
import { operatorProblems, readFilters } from "./operation.ts";
import { RedeliveriesPage } from "./redelivery-schema.ts";

export function listRedeliveriesRoute(app: App, deps: Dependencies): void {
  app.get(
    "/redeliveries",
    {
      config: { spread: "descending" },
      schema: {
        operationId: "listRedeliveries",
        tags: ["Redeliveries"],
        summary: "List redeliveries",
        description: "Newest first, as far back as the retention period.",
        querystring: CellsPageQuery,
        response: { 200: RedeliveriesPage, ...operatorProblems("invalid_request") },
      },
      validatorCompiler: readByHand,
    },
    async ({ query }) =>
      pageOfRedeliveries(deps, {
        ...readFilters(query, CellsPageQuery),
        ...readPageRequest(query),
      }),
  );
}
