import type { Dependencies } from "../../actions/dependencies.ts";
import { Type } from "typebox";
import { sendTestEvent } from "../../actions/test-events.ts";
import { type EventId, parseId, publicId } from "../../domain/ids.ts";
import type { App } from "../app.ts";
import { BODY_PROBLEMS } from "../problem-schema.ts";
import { SubscriptionParams } from "../subscription-schema.ts";
import { notePublished } from "../published-log.ts";
import { partnerProblems } from "./operation.ts";
import { callerOf } from "./caller.ts";
import { answerKeyed, KeyHeader, REPLAYED_HEADER, requireGoodKey } from "./idempotency.ts";

const Proof = Type.Object(
  { secret: Type.String({ description: "The signing secret of the subscription." }) },
  {
    title: "Proof",
    description: "Proof of possession of the signing secret.",
    examples: [{ secret: `whsec_${"A".repeat(44)}` }],
  },
);

const Accepted = Type.Object(
  {
    event_id: Type.String({ description: "`evt_<uuid>`, the `id` of the envelope" }),
    enqueued: Type.Boolean({
      description: "Always true. If the event cannot be stored, the response is an error.",
    }),
  },
  {
    title: "AcceptedEvent",
    description: "The event is stored and will be delivered.",
    examples: [{ event_id: "evt_019bd1f1-0a00-7000-9b1c-5d6e7f809a1b", enqueued: true }],
  },
);

export function sendTestEventRoute(app: App, deps: Dependencies): void {
  app.post(
    "/webhooks/:id/test",
    {
      config: { scope: "webhooks:manage", continuesTrace: true },
      preValidation: requireGoodKey(),
      schema: {
        operationId: "sendTestEvent",
        tags: ["Deliveries"],
        summary: "Send a test event",
        description:
          "Sends a `vc.test.ping` event through the pipeline of every other event: it is signed, retried on the " +
          "schedule, and listed in the failures audit if an attempt fails.",
        params: SubscriptionParams,
        headers: KeyHeader,
        body: Proof,
        response: {
          200: { ...Accepted, ...REPLAYED_HEADER },
          ...partnerProblems(
            "secret_mismatch",
            "not_found",
            "subscription_inactive",
            "request_in_progress",
            ...BODY_PROBLEMS,
            "idempotency_key_reused",
          ),
        },
      },
    },
    async (request, reply) => {
      const { organizationId } = callerOf(request);
      const { secret } = request.body;
      const call = { id: parseId("wh", request.params.id), secret, requestId: request.id };
      return answerKeyed(deps, request, reply.code(200), {
        route: "sendTestEvent",
        view: (eventId: EventId) => ({ event_id: publicId("evt", eventId), enqueued: true }),
        work: async (keep) => {
          const eventId = await sendTestEvent(deps, organizationId, call, keep);
          notePublished(request, [publicId("evt", eventId)]);
          return eventId;
        },
      });
    },
  );
}
