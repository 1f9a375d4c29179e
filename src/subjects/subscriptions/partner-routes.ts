import { Type } from "typebox";
import type { App } from "../../http/app.ts";
import { callerOf, partnerProblems } from "../../http/partner.ts";
import { BODY_PROBLEMS } from "../../http/problem.ts";
import { parseId } from "../../lib/ids.ts";
import type { Dependencies } from "../dependencies.ts";
import {
  answerKeyed,
  KeyHeader,
  REPLAYED_HEADER,
  requireGoodKey,
} from "../events/partner-routes.ts";
import {
  judgeSubscription,
  NewSubscription,
  requireSubscriptionBody,
  SubscriptionParams,
  subscriptionRequest,
  Subscriptions,
} from "./schema.ts";
import {
  createSubscription,
  deleteSubscription,
  listSubscriptions,
  type NewSubscription as Created,
  viewSubscription,
} from "./work.ts";

export function createSubscriptionRoute(app: App, deps: Dependencies): void {
  app.post(
    "/webhooks",
    {
      config: { scope: "webhooks:manage" },
      attachValidation: true,
      preValidation: requireGoodKey(judgeSubscription(deps)),
      preHandler: requireSubscriptionBody(deps),
      schema: {
        operationId: "createSubscription",
        tags: ["Subscriptions"],
        summary: "Subscribe a URL to events",
        description:
          "Events are delivered to the URL from now on. The response contains the signing secret, which is shown only once. " +
          "To rotate a secret, subscribe the same URL a second time.",
        headers: KeyHeader,
        body: subscriptionRequest(deps.eventTypes),
        response: {
          201: { ...NewSubscription, ...REPLAYED_HEADER },
          ...partnerProblems(
            "not_found",
            "subscription_limit",
            "request_in_progress",
            ...BODY_PROBLEMS,
            "idempotency_key_reused",
            "url_rejected",
          ),
        },
      },
    },
    async (request, reply) => {
      const { organizationId } = callerOf(request);
      return answerKeyed(deps, request, reply.code(201), {
        route: "createSubscription",
        view: (created: Created) => ({ ...viewSubscription(created), secret: created.secret }),
        work: (keep) => createSubscription(deps, organizationId, request.body, keep),
      });
    },
  );
}

export function deleteSubscriptionRoute(app: App, deps: Dependencies): void {
  app.delete(
    "/webhooks/:id",
    {
      config: { scope: "webhooks:manage" },
      schema: {
        operationId: "deleteSubscription",
        tags: ["Subscriptions"],
        summary: "Delete a subscription",
        description: "Cancels its queued deliveries and erases its secret.",
        params: SubscriptionParams,
        response: {
          204: Type.Null({ description: "The subscription is deleted." }),
          ...partnerProblems("not_found"),
        },
      },
    },
    async (request, reply) => {
      const { organizationId } = callerOf(request);
      await deleteSubscription(deps, organizationId, parseId("wh", request.params.id));
      return reply.code(204).send(null);
    },
  );
}

export function listSubscriptionsRoute(app: App, deps: Dependencies): void {
  app.get(
    "/webhooks",
    {
      config: { scope: "webhooks:manage" },
      schema: {
        operationId: "listSubscriptions",
        tags: ["Subscriptions"],
        summary: "List subscriptions",
        description:
          "All subscriptions of the organization, newest first, including auto-disabled ones. We do not notify you of " +
          "auto-disabling: check `active` and `auto_disabled_at`.",
        response: { 200: Subscriptions, ...partnerProblems() },
      },
    },
    async (request) => {
      const rows = await listSubscriptions(deps, callerOf(request).organizationId);
      return rows.map((row) => viewSubscription(row));
    },
  );
}
