import { Type } from "typebox";
import { pageOfSubscriptions } from "../../actions/listings.ts";
import type { Dependencies } from "../../actions/dependencies.ts";
import { SUBSCRIPTION_ORDERS } from "../../domain/subscription.ts";
import type { App } from "../app.ts";
import { CellsPageQuery, readByHand, readPageRequest } from "../page-schema.ts";
import { operatorProblems, readFilters } from "./operation.ts";
import { OrganizationFilter } from "./organization-schema.ts";
import { OperatedSubscriptionsPage } from "./subscription-schema.ts";

const Query = Type.Object({
  organization: OrganizationFilter,
  active: Type.Optional(
    Type.Boolean({ description: "True: only active ones. False: only auto-disabled ones." }),
  ),
  order: Type.Optional(
    Type.String({
      enum: [...SUBSCRIPTION_ORDERS],
      default: "newest",
      description: "`failing`: auto-disabled ones first, then those with most failures in a row.",
    }),
  ),
  ...CellsPageQuery.properties,
});

export function listSubscriptionsRoute(app: App, deps: Dependencies): void {
  app.get(
    "/subscriptions",
    {
      config: { spread: "descending" },
      schema: {
        operationId: "listAllSubscriptions",
        tags: ["Subscriptions"],
        summary: "List subscriptions",
        description: "Newest first by default, without deleted ones.",
        querystring: Query,
        response: {
          200: OperatedSubscriptionsPage,
          ...operatorProblems("not_found", "invalid_request"),
        },
      },
      validatorCompiler: readByHand,
    },
    async ({ query }) => {
      const request = { ...readFilters(query, Query), ...readPageRequest(query) };
      return pageOfSubscriptions(deps, request);
    },
  );
}
