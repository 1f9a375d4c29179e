import { Type } from "typebox";
import { NAMES_MAX, pageOfOrganizations } from "../../actions/listings.ts";
import type { Dependencies } from "../../actions/dependencies.ts";
import type { App } from "../app.ts";
import { CellsPageQuery, readByHand, readPageRequest } from "../page-schema.ts";
import { operatorProblems, readFilters } from "./operation.ts";
import { OrganizationsPage } from "./organization-schema.ts";

const Query = Type.Object({
  names: Type.Optional(
    Type.String({
      description: `Only these: ids or slugs, with commas between them; at most ${NAMES_MAX}.`,
    }),
  ),
  ...CellsPageQuery.properties,
});

export function listOrganizationsRoute(app: App, deps: Dependencies): void {
  app.get(
    "/organizations",
    {
      config: { spread: "ascending", namesCell: true },
      schema: {
        operationId: "listOrganizations",
        tags: ["Organizations"],
        summary: "List organizations",
        description: "Ordered by slug.",
        querystring: Query,
        response: { 200: OrganizationsPage, ...operatorProblems("invalid_request") },
      },
      validatorCompiler: readByHand,
    },
    async ({ query }) =>
      pageOfOrganizations(deps, {
        ...readFilters(query, Query),
        ...readPageRequest(query),
      }),
  );
}
