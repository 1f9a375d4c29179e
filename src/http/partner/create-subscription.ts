import { answerOnce } from "../../actions/kept-answers.ts";
import type { Shards } from "../../actions/shards.ts";
import {
  createSubscription,
  type NewSubscription as Created,
} from "../../actions/subscriptions.ts";
import { viewSubscription } from "../../actions/views/subscription.ts";
import type { App } from "../app.ts";
import { BODY_PROBLEMS } from "../problem-schema.ts";
import { NewSubscription, subscriptionRequest } from "../subscription-schema.ts";
import { partnerProblems } from "./operation.ts";
import { callerOf, depsOf } from "./caller.ts";
import { judgeSubscription, requireSubscriptionBody } from "./subscription-body.ts";
import {
  KeyHeader,
  keyedRequestOf,
  REPLAYED_HEADER,
  requireGoodKey,
  sendAnswer,
  serialize,
} from "./idempotency.ts";

export function createSubscriptionRoute(app: App, { settings }: Shards): void {
  app.post(
    "/webhooks",
    {
      config: { scope: "webhooks:manage" },
      attachValidation: true,
      preValidation: requireGoodKey(judgeSubscription(settings)),
      preHandler: requireSubscriptionBody(settings),
      schema: {
        operationId: "createSubscription",
        tags: ["Subscriptions"],
        summary: "Subscribe a URL to events",
        description:
          "Events are delivered to the URL from now on. The response contains the signing secret, which is shown only once. " +
          "To rotate a secret, subscribe the same URL a second time.",
        headers: KeyHeader,
        body: subscriptionRequest(settings.eventTypes),
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
      const deps = depsOf(request);
      const keyed = keyedRequestOf(request, "createSubscription");
      reply.code(201);
      if (!keyed) return view(await createSubscription(deps, organizationId, request.body));

      const bodyOf = (created: Created) => serialize(reply, view(created));
      const answer = await answerOnce(deps, keyed, async (keep) => {
        const created = await createSubscription(deps, organizationId, request.body, (tx, one) =>
          keep(tx, one.id, bodyOf(one)),
        );
        return bodyOf(created);
      });
      return sendAnswer(reply, answer);
    },
  );
}

function view(created: Created) {
  return { ...viewSubscription(created), secret: created.secret };
}
