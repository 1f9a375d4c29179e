import { pageOfOrganizations } from "../../actions/listings.ts";
import type { Dependencies } from "../../actions/dependencies.ts";
import type { App } from "../app.ts";
import { PageQuery, readByHand, readPageRequest } from "../page-schema.ts";
import { operatorProblems } from "./operation.ts";
import { OrganizationsPage } from "./organization-schema.ts";

export function listOrganizationsRoute(app: App, deps: Dependencies): void {
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
    async ({ query }) => pageOfOrganizations(deps, readPageRequest(query)),
  );
}
