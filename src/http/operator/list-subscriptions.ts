import { Type } from "typebox";
import type { Dependencies } from "../../actions/dependencies.ts";
import { pageOfSubscriptions } from "../../actions/listings.ts";
import type { App } from "../app.ts";
import { pageOf, PageQuery, readByHand, readPageRequest } from "../page-schema.ts";
import { Subscriptions } from "../subscription-schema.ts";
import { operatorProblems, readFilters } from "./operation.ts";
import { OrganizationFilter } from "./organization-schema.ts";

const Query = Type.Object({
  organization: OrganizationFilter,
  active: Type.Optional(
    Type.Boolean({ description: "True: only active ones. False: only auto-disabled ones." }),
  ),
  ...PageQuery.properties,
});

const SubscriptionsPage = pageOf(Subscriptions.items, "Subscriptions, newest first.");

export function listSubscriptionsRoute(app: App, deps: Dependencies): void {
  app.get(
    "/subscriptions",
    {
      schema: {
        operationId: "listAllSubscriptions",
        summary: "List subscriptions",
        description: "As their partners see them, newest first; deleted ones are gone.",
        querystring: Query,
        response: { 200: SubscriptionsPage, ...operatorProblems("not_found", "invalid_request") },
      },
      validatorCompiler: readByHand,
    },
    async ({ query }) =>
      pageOfSubscriptions(deps, {
        ...readFilters(query, ["organization", "active"]),
        ...readPageRequest(query),
      }),
  );
}
