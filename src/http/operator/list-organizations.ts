import type { Dependencies } from "../../actions/dependencies.ts";
import { pageOfOrganizations } from "../../actions/listings.ts";
import { pageEverywhere } from "../../actions/everywhere.ts";
import { named, type Shards } from "../../actions/shards.ts";
import type { PageRequest } from "../../domain/page.ts";
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
      const read = async (deps: Dependencies, request: PageRequest) => {
        const page = await pageOfOrganizations(deps, request);
        return { ...page, items: page.items.map((item) => named(shards, deps, item)) };
      };
      return pageEverywhere(shards, readPageRequest(query), read, "ascending");
    },
  );
}
