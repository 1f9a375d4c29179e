import { Type } from "typebox";
import type { App } from "../../http/app.ts";
import { logChange, operatorProblems, readFilters } from "../../http/operator.ts";
import { BODY_PROBLEMS } from "../../http/problem.ts";
import { CellsPageQuery, readByHand, readPageRequest } from "../../http/schema.ts";
import { parseId } from "../../lib/ids.ts";
import { getSubscriptionHealth } from "../activity/health.ts";
import { Health } from "../activity/schema.ts";
import type { Dependencies } from "../dependencies.ts";
import { pageOfSubscriptions } from "../listings.ts";
import { OrganizationFilter } from "../organizations/schema.ts";
import { SUBSCRIPTION_ORDERS } from "./rules.ts";
import {
  OperatedSubscription,
  OperatedSubscriptionsPage,
  SubscriptionParams,
  SubscriptionPatch,
} from "./schema.ts";
import { changeSubscription, deleteSubscription, viewOperatedSubscription } from "./work.ts";

export function subscriptionRoutes(app: App, deps: Dependencies): void {
  listSubscriptionsRoute(app, deps);
  changeSubscriptionRoute(app, deps);
  deleteSubscriptionRoute(app, deps);
  showSubscriptionRoute(app, deps);
}

function deleteSubscriptionRoute(app: App, deps: Dependencies): void {
  app.delete(
    "/subscriptions/:id",
    {
      config: { spread: "one" },
      schema: {
        operationId: "deleteAnySubscription",
        tags: ["Subscriptions"],
        summary: "Delete a subscription of any organization",
        description: "Cancels its queued deliveries and erases its secret.",
        params: SubscriptionParams,
        response: {
          204: Type.Null({ description: "The subscription is deleted." }),
          ...operatorProblems("not_found"),
        },
      },
    },
    async (request, reply) => {
      const { id } = request.params;
      await deleteSubscription(deps, null, parseId("wh", id));
      logChange(request, "delete_subscription", id);
      return reply.code(204).send(null);
    },
  );
}

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

function listSubscriptionsRoute(app: App, deps: Dependencies): void {
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

function changeSubscriptionRoute(app: App, deps: Dependencies): void {
  app.patch(
    "/subscriptions/:id",
    {
      config: { spread: "one" },
      schema: {
        operationId: "changeSubscription",
        tags: ["Subscriptions"],
        summary: "Limit, hold or release a subscription",
        description:
          "Both hold for all processes together, from the next claim on, and count nothing as a failure. Deliveries above " +
          "the ceiling wait. While a subscription is held, all of them wait, attempts in flight end, and the partner sees no " +
          "difference. Released, it goes on at its ceiling, or at once without one.",
        params: SubscriptionParams,
        body: SubscriptionPatch,
        response: {
          200: OperatedSubscription,
          ...operatorProblems("not_found", "subscription_inactive", ...BODY_PROBLEMS),
        },
      },
    },
    async (request) => {
      const { max_per_second: maxPerSecond, held } = request.body;
      const { id } = request.params;
      const change = { maxPerSecond, held };
      const changed = viewOperatedSubscription(
        await changeSubscription(deps, parseId("wh", id), change),
        deps,
      );
      if (maxPerSecond !== undefined) logChange(request, "set_ceiling", changed.id);
      if (held !== undefined) logChange(request, HOLDS[`${held}`], changed.id);
      return changed;
    },
  );
}

const HOLDS = { true: "hold_subscription", false: "release_subscription" };

const SubscriptionDetail = Type.Object(
  { ...OperatedSubscription.properties, health: Health },
  {
    title: "SubscriptionDetail",
    description: "A subscription, with the health of its deliveries.",
  },
);

function showSubscriptionRoute(app: App, deps: Dependencies): void {
  app.get(
    "/subscriptions/:id",
    {
      config: { spread: "one" },
      schema: {
        operationId: "getSubscription",
        tags: ["Subscriptions"],
        summary: "Show a subscription of any organization",
        description: "With its health.",
        params: SubscriptionParams,
        response: { 200: SubscriptionDetail, ...operatorProblems("not_found") },
      },
    },
    async ({ params }) => getSubscriptionHealth(deps, parseId("wh", params.id)),
  );
}
