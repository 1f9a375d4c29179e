import { pageOfRedeliveries } from "../../actions/redeliveries.ts";
import { pageEverywhere } from "../../actions/everywhere.ts";
import type { Shards } from "../../actions/shards.ts";
import type { App } from "../app.ts";
import { PageQuery, readByHand, readPageRequest } from "../page-schema.ts";
import { operatorProblems } from "./operation.ts";
import { RedeliveriesPage } from "./redelivery-schema.ts";

export function listRedeliveriesRoute(app: App, shards: Shards): void {
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
    async ({ query }) => pageEverywhere(shards, readPageRequest(query), pageOfRedeliveries),
  );
}
