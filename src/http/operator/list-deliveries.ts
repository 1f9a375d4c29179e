import { pageOfDeliveries } from "../../actions/listings.ts";
import type { Dependencies } from "../../actions/dependencies.ts";
import type { App } from "../app.ts";
import { readByHand, readPageRequest } from "../page-schema.ts";
import { DeliveriesPage, deliveriesQuery } from "./delivery-schema.ts";
import { operatorProblems, readFilters } from "./operation.ts";

export function listDeliveriesRoute(app: App, deps: Dependencies): void {
  const Query = deliveriesQuery(deps.eventTypes.names);
  app.get(
    "/deliveries",
    {
      config: { spread: "descending" },
      schema: {
        operationId: "listDeliveries",
        tags: ["Deliveries"],
        summary: "List deliveries",
        description:
          "Waiting and finished deliveries, as far back as the retention period. A search reads a bounded number " +
          "of rows: a page may hold fewer than `limit`, or none, and still have a `next_cursor`.",
        querystring: Query,
        response: { 200: DeliveriesPage, ...operatorProblems("not_found", "invalid_request") },
      },
      validatorCompiler: readByHand,
    },
    async ({ query }) => {
      const request = { ...readFilters(query, Query), ...readPageRequest(query) };
      return pageOfDeliveries(deps, request);
    },
  );
}
