import { pageOfDeliveries } from "../../actions/listings.ts";
import { pageEverywhere } from "../../actions/everywhere.ts";
import type { Shards } from "../../actions/shards.ts";
import type { App } from "../app.ts";
import { readByHand, readPageRequest } from "../page-schema.ts";
import { DeliveriesPage, deliveriesQuery } from "./delivery-schema.ts";
import { operatorProblems, readFilters } from "./operation.ts";

export function listDeliveriesRoute(app: App, shards: Shards): void {
  const Query = deliveriesQuery(shards.settings.eventTypes.names);
  app.get(
    "/deliveries",
    {
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
      return pageEverywhere(shards, request, pageOfDeliveries);
    },
  );
}
