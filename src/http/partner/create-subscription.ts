import type { Dependencies } from "../../actions/dependencies.ts";
import { createSubscription } from "../../actions/subscriptions.ts";
import { viewSubscription } from "../../actions/views/subscription.ts";
import type { App } from "../app.ts";
import { BODY_PROBLEMS } from "../problem-schema.ts";
import { NewSubscription, subscriptionRequest } from "../subscription-schema.ts";
import { partnerProblems } from "./operation.ts";
import { callerOf } from "./caller.ts";

export function createSubscriptionRoute(app: App, deps: Dependencies): void {
  app.post(
    "/webhooks",
    {
      config: { scope: "webhooks:manage" },
      schema: {
        operationId: "createSubscription",
        summary: "Subscribe a URL to events",
        description:
          "Deliveries go to the URL from now on. The answer holds the signing secret, which is shown this once. " +
          "The same URL may be subscribed twice: that is how a secret is rotated.",
        body: subscriptionRequest(deps.eventTypes),
        response: {
          201: NewSubscription,
          ...partnerProblems("subscription_limit", ...BODY_PROBLEMS, "url_rejected"),
        },
      },
    },
    async (request, reply) => {
      const { organizationId } = callerOf(request);
      const created = await createSubscription(deps, organizationId, request.body);
      return reply.code(201).send({ ...viewSubscription(created), secret: created.secret });
    },
  );
}
