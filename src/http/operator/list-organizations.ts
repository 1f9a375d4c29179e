import { pageOfOrganizations } from "../../actions/listings.ts";
import { pageEverywhere } from "../../actions/everywhere.ts";
import { named, type Shards } from "../../actions/shards.ts";
import type { App } from "../app.ts";
import { PageQuery, readByHand, readPageRequest } from "../page-schema.ts";
import { operatorProblems } from "./operation.ts";
import { OrganizationsPage } from "./organization-schema.ts";

export function listOrganizationsRoute(app: App, shards: Shards): void {
  app.get(
    "/organizations",
    {
      schema: {
        operationId: "listOrganizations",
        tags: ["Organizations"],
        summary: "List organizations",
        description: "Ordered by slug.",
        querystring: PageQuery,
        response: { 200: OrganizationsPage, ...operatorProblems("invalid_request") },
      },
      validatorCompiler: readByHand,
    },
    async ({ query }) => {
      const request = readPageRequest(query);
      return pageEverywhere(shards, { limit: request.limit, order: "ascending" }, async (deps) => {
        const page = await pageOfOrganizations(deps, request);
        return { ...page, items: page.items.map((item) => named(shards, deps, item)) };
      });
    },
  );
}
