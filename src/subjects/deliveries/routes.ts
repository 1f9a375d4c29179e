import type { App } from "../../http/app.ts";
import { operatorProblems, readFilters } from "../../http/operator.ts";
import { PageQuery, readByHand, readPageRequest } from "../../http/schema.ts";
import { parseId } from "../../lib/ids.ts";
import type { Dependencies } from "../dependencies.ts";
import { pageOfDeliveries } from "../listings.ts";
import { SubscriptionParams } from "../subscriptions/schema.ts";
import {
  DeliveriesPage,
  deliveriesQuery,
  DeliveryDetail,
  DeliveryParams,
  FailuresPage,
} from "./schema.ts";
import { getDelivery, pageOfFailures } from "./work.ts";

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

export function listFailuresRoute(app: App, deps: Dependencies): void {
  app.get(
    "/subscriptions/:id/failures",
    {
      config: { spread: "one" },
      schema: {
        operationId: "listFailuresOfSubscription",
        tags: ["Subscriptions"],
        summary: "Read the failures audit of a subscription",
        description:
          "Every failed attempt of its deliveries, newest first, as the partner sees it.",
        params: SubscriptionParams,
        querystring: PageQuery,
        response: { 200: FailuresPage, ...operatorProblems("not_found", "invalid_request") },
      },
      validatorCompiler: readByHand,
    },
    async ({ params, query }) =>
      pageOfFailures(deps, null, { id: parseId("wh", params.id), ...readPageRequest(query) }),
  );
}

export function showDeliveryRoute(app: App, deps: Dependencies): void {
  app.get(
    "/deliveries/:id",
    {
      config: { spread: "one" },
      schema: {
        operationId: "getDelivery",
        tags: ["Deliveries"],
        summary: "Show a delivery with its attempts",
        description: "Lists every attempt with its outcome, including the successful one.",
        params: DeliveryParams,
        response: { 200: DeliveryDetail, ...operatorProblems("not_found") },
      },
    },
    async ({ params }) => getDelivery(deps, parseId("dlv", params.id)),
  );
}
