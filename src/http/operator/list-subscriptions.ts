import { Type } from "typebox";
import { pageOfSubscriptions } from "../../actions/listings.ts";
import { pageEverywhere } from "../../actions/everywhere.ts";
import type { Shards } from "../../actions/shards.ts";
import type { App } from "../app.ts";
import { PageQuery, readByHand, readPageRequest } from "../page-schema.ts";
import { operatorProblems, readFilters } from "./operation.ts";
import { OrganizationFilter } from "./organization-schema.ts";
import { OperatedSubscriptionsPage } from "./subscription-schema.ts";

const Query = Type.Object({
  organization: OrganizationFilter,
  active: Type.Optional(
    Type.Boolean({ description: "True: only active ones. False: only auto-disabled ones." }),
  ),
  ...PageQuery.properties,
});

export function listSubscriptionsRoute(app: App, shards: Shards): void {
  app.get(
    "/subscriptions",
    {
      schema: {
        operationId: "listAllSubscriptions",
        tags: ["Subscriptions"],
        summary: "List subscriptions",
        description: "Newest first, without deleted ones.",
        querystring: Query,
        response: {
          200: OperatedSubscriptionsPage,
          ...operatorProblems("not_found", "invalid_request"),
        },
      },
      validatorCompiler: readByHand,
    },
    async ({ query }) => {
      const request = {
        ...readFilters(query, ["organization", "active"]),
        ...readPageRequest(query),
      };
      return pageEverywhere(shards, request, pageOfSubscriptions);
    },
  );
}
