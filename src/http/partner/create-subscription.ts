import type { Dependencies } from "../../actions/dependencies.ts";
import {
  createSubscription,
  type NewSubscription as Created,
} from "../../actions/subscriptions.ts";
import { viewSubscription } from "../../actions/views/subscription.ts";
import type { App } from "../app.ts";
import { BODY_PROBLEMS } from "../problem-schema.ts";
import { NewSubscription, subscriptionRequest } from "../subscription-schema.ts";
import { partnerProblems } from "./operation.ts";
import { callerOf } from "./caller.ts";
import { judgeSubscription, requireSubscriptionBody } from "./subscription-body.ts";
import { answerKeyed, KeyHeader, REPLAYED_HEADER, requireGoodKey } from "./idempotency.ts";

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
