import type { App } from "../../http/app.ts";
import {
  forgetTypeOfNothing,
  logChange,
  operatorProblems,
  readFilters,
} from "../../http/operator.ts";
import { BODY_PROBLEMS } from "../../http/problem.ts";
import { PageQuery, readByHand, readPageRequest } from "../../http/schema.ts";
import { parseId } from "../../lib/ids.ts";
import type { Dependencies } from "../dependencies.ts";
import { pageOfDeliveries } from "../listings.ts";
import { SubscriptionParams } from "../subscriptions/schema.ts";
import {
  DeliveriesPage,
  Delivery,
  deliveriesQuery,
  DeliveryDetail,
  DeliveryParams,
  FailuresPage,
} from "./schema.ts";
import { attemptNow } from "./waiting.ts";
import { getDelivery, pageOfFailures, viewDelivery } from "./work.ts";

export function deliveryRoutes(app: App, deps: Dependencies): void {
  listFailuresRoute(app, deps);
  listDeliveriesRoute(app, deps);
  showDeliveryRoute(app, deps);
  attemptDeliveryRoute(app, deps);
}

function attemptDeliveryRoute(app: App, deps: Dependencies): void {
  app.post(
    "/deliveries/:id/attempt",
    {
      config: { spread: "one" },
      onRequest: forgetTypeOfNothing,
      schema: {
        operationId: "attemptDelivery",
        tags: ["Deliveries"],
        summary: "Attempt a waiting delivery now",
        description:
          "The delivery becomes due. It keeps its number of attempts, and the retry schedule goes on from this attempt. " +
          "An attempt in flight is not repeated.",
        params: DeliveryParams,
        response: {
          202: Delivery,
          ...operatorProblems(
            "not_found",
            "not_waiting",
            "subscription_inactive",
            "subscription_held",
            ...BODY_PROBLEMS,
          ),
        },
      },
    },
    async (request, reply) => {
      const { id } = request.params;
      const due = viewDelivery(await attemptNow(deps, parseId("dlv", id)));
      logChange(request, "attempt_delivery", id);
      return reply.code(202).send(due);
    },
  );
}

function listDeliveriesRoute(app: App, deps: Dependencies): void {
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

function listFailuresRoute(app: App, deps: Dependencies): void {
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

function showDeliveryRoute(app: App, deps: Dependencies): void {
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
