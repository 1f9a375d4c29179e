import { createHash } from "node:crypto";
import type { FastifyReply, FastifyRequest, preValidationHookHandler } from "fastify";
import { Type } from "typebox";
import type { App } from "../../http/app.ts";
import { callerOf, partnerProblems } from "../../http/partner.ts";
import { BODY_PROBLEMS, faultsOf, type Violation } from "../../http/problem.ts";
import { type Fault, invalidRequest } from "../../lib/errors.ts";
import { type EventId, parseId, publicId, type SubscriptionId } from "../../lib/ids.ts";
import type { Queryable } from "../../postgres/database.ts";
import type { Dependencies } from "../dependencies.ts";
import { SubscriptionParams } from "../subscriptions/schema.ts";
import { answerOnce, type KeyedRequest } from "./idempotency.ts";
import { notePublished } from "./routes.ts";
import {
  IDEMPOTENCY_KEY,
  IDEMPOTENCY_KEY_RULE,
  isIdempotencyKey,
  type KeyedRoute,
} from "./rules.ts";
import { sendTestEvent } from "./work.ts";

const NAME = "idempotency-key";

/** The header for the OpenAPI document. `requireGoodKey` checks it. */
export const KeyHeader = Type.Object({
  "Idempotency-Key": Type.Optional(
    Type.String({
      pattern: IDEMPOTENCY_KEY.source,
      description:
        "Makes the request safe to repeat for 24 hours: 1 to 255 visible ASCII characters, such as a UUID. The same key " +
        "with the same body returns the first response again.",
    }),
  ),
});

/** The headers of a success, for the OpenAPI document. */
export const REPLAYED_HEADER = {
  headers: {
    "Idempotent-Replayed": {
      type: "string",
      description: "`true` if the response was stored for the Idempotency-Key.",
    },
  },
};

/**
 * Refuses a malformed key, together with every fault of the body. It runs before the body is validated. `judgeBody` returns the
 * faults of the body. By default the route's schema decides.
 */
export function requireGoodKey(judgeBody = judgeByRoute): preValidationHookHandler {
  return (request, _reply, done) => {
    const key = request.headers[NAME];
    if (key === undefined || isIdempotencyKey(String(key)) || request.body === undefined) {
      done();
      return;
    }
    const ofKey = { pointer: "/Idempotency-Key", detail: IDEMPOTENCY_KEY_RULE };
    done(invalidRequest([ofKey, ...judgeBody(request)]));
  };
}

function judgeByRoute(request: FastifyRequest): Fault[] {
  const isValid = request.getValidationFunction("body");
  return isValid?.(request.body) === false ? faultsOf((isValid.errors ?? []) as Violation[]) : [];
}

/** Keeps the answer about what is being made, in the transaction that makes it. */
type Keep<Made> = (tx: Queryable, subscriptionId: SubscriptionId, made: Made) => Promise<void>;

/**
 * Does the work of a request, and answers with the view of what it made. With a key, only the first of equal requests does the
 * work, which keeps the answer for the others.
 */
export async function answerKeyed<Made, View extends object>(
  deps: Dependencies,
  request: FastifyRequest,
  reply: FastifyReply,
  {
    route,
    view,
    work,
  }: {
    route: KeyedRoute;
    view: (made: Made) => View;
    work: (keep?: Keep<Made>) => Promise<Made>;
  },
): Promise<View | FastifyReply> {
  const keyed = keyedRequestOf(request, route);
  if (!keyed) return view(await work());
  // According to the schema of the reply's status.
  const bodyOf = (made: Made) => reply.serialize(view(made)) as string;
  const { body, isReplayed } = await answerOnce(deps, keyed, async (keep) =>
    bodyOf(await work((tx, subscriptionId, made) => keep(tx, subscriptionId, bodyOf(made)))),
  );
  if (isReplayed) void reply.header("idempotent-replayed", "true");
  return reply.type("application/json; charset=utf-8").send(Buffer.from(body));
}

/** Returns the request with its key. Null without a key. The hash covers the path's parameters and the body. */
function keyedRequestOf(request: FastifyRequest, route: KeyedRoute): KeyedRequest | null {
  const key = request.headers[NAME];
  if (key === undefined) return null;
  const asked = JSON.stringify([request.params, request.body]);
  return {
    organizationId: callerOf(request).organizationId,
    route,
    key: String(key),
    hash: createHash("sha256").update(asked).digest(),
  };
}

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
