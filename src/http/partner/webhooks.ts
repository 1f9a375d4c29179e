import type { EventType, EventTypes } from "../../domain/event-types.ts";
import { exampleRequest } from "../docs/example-request.ts";
import type { Webhooks } from "../openapi.ts";
import { componentsOf } from "./event-component.ts";

const COMPONENTS = "#/components";

/** Returns the part of the OpenAPI document about the deliveries of these types. */
export function webhooksOf(types: EventTypes): Webhooks {
  const all = [...types];
  return {
    webhooks: Object.fromEntries(all.map((type) => [type.name, { post: operation(type) }])),
    schemas: Object.fromEntries([
      ["EventEnvelope", ENVELOPE],
      ...Object.entries(componentsOf(all)),
      ...all.map(({ name }) => [envelopeName(name), envelopeOf(name)] as const),
    ]),
    parameters: HEADERS,
    callbacks: { createSubscription: callbackOf(all) },
  };
}

/**
 * Returns the deliveries of all types as a callback of the operation that names the URL. Some generators drop components that no
 * path refers to, and would leave `webhooks` without them.
 */
function callbackOf(types: EventType[]): object {
  const schemas = types.map(({ name }) => schemaOf(envelopeName(name)));
  const post = {
    operationId: "receive_delivery",
    summary: "A delivery",
    description: "A signed request to the URL of the subscription: see `webhooks`.",
    ...request({ schema: { oneOf: schemas } }),
  };
  return { delivery: { "{$request.body#/url}": { post } } };
}

function operation(type: EventType): object {
  const { name, summary, description } = type;
  return {
    operationId: `receive ${name}`.replaceAll(/[^a-z0-9]+/g, "_"),
    summary,
    description: description ?? "A signed request to the URL of a subscription.",
    ...request({
      schema: { allOf: ["EventEnvelope", envelopeName(name)].map(schemaOf) },
      example: JSON.parse(exampleRequest(type).body) as unknown,
    }),
  };
}

function request(json: { schema: object; example?: unknown }): object {
  const failed = { description: "The attempt failed. The delivery is retried on the schedule." };
  return {
    tags: ["Events"],
    security: [],
    parameters: Object.keys(HEADERS).map((key) => ({ $ref: `${COMPONENTS}/parameters/${key}` })),
    requestBody: { required: true, content: { "application/json": json } },
    responses: {
      "2XX": { description: "The delivery is acknowledged." },
      "4XX": failed,
      "5XX": failed,
    },
  };
}

function schemaOf(name: string): object {
  return { $ref: `${COMPONENTS}/schemas/${name}` };
}

const ID = "019bd1f1-0a00-7000-9b1c-5d6e7f809a1b";
const ATTEMPTS = "The number of this attempt, 1 to 7. It is not signed.";

const HEADERS = {
  "X-VC-Signature": header(
    "X-VC-Signature",
    "`sha256=` and the hexadecimal HMAC-SHA256 of timestamp, dot and raw body. The key is the whole signing secret, `whsec_` included.",
    { type: "string", pattern: "^sha256=[0-9a-f]{64}$", examples: [`sha256=${"0".repeat(64)}`] },
  ),
  "X-VC-Timestamp": header(
    "X-VC-Timestamp",
    "The time of this attempt in milliseconds since the Unix epoch. Reject a delivery more than 5 minutes from your clock.",
    { type: "string", pattern: "^[0-9]+$", examples: ["1769851800123"] },
  ),
  "X-VC-Attempt": header("X-VC-Attempt", ATTEMPTS, { type: "integer", minimum: 1, examples: [1] }),
  "webhook-id": header("webhook-id", "The `id` of the event, for Standard Webhooks.", {
    type: "string",
    examples: [`evt_${ID}`],
  }),
  "webhook-timestamp": header("webhook-timestamp", "The time in seconds, for Standard Webhooks.", {
    type: "string",
    examples: ["1769851800"],
  }),
  "webhook-signature": header("webhook-signature", "The signature of Standard Webhooks.", {
    type: "string",
    examples: [`v1,${"A".repeat(43)}=`],
  }),
};

function header(name: string, description: string, schema: object): object {
  return { name, in: "header", required: true, description, schema };
}

const MEMBERS = {
  event: { type: "string", description: "The event type." },
  id: { type: "string", description: "`evt_<uuid>`, the same for every attempt." },
  subscription_id: { type: "string", description: "`wh_<uuid>`, the receiving subscription." },
  occurred_at: { type: "string", format: "date-time", description: "When it happened." },
  data: { type: "object", additionalProperties: true, description: "The details." },
};

const ENVELOPE = {
  type: "object",
  description: "The body of every delivery. Its bytes are the same for every attempt.",
  properties: MEMBERS,
  required: Object.keys(MEMBERS),
};

/** Types are in lower case, so that none has this name. */
function envelopeName(type: string): string {
  return `${type}.Envelope`;
}

/** Repeats the members of every envelope, because generators do not combine two schemas of one member. */
function envelopeOf(type: string): object {
  return {
    ...ENVELOPE,
    description: `The body of a delivery of \`${type}\`.`,
    properties: {
      ...MEMBERS,
      event: { type: "string", const: type },
      data: { $ref: `${COMPONENTS}/schemas/${type}` },
    },
  };
}
