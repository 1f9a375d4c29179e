import { partsOf, type Schema, SchemaIndex } from "../event-types/schema-index.ts";
import { isObject } from "../lib/objects.ts";
import { listFailuresRoute } from "../subjects/deliveries/partner-routes.ts";
import type { Dependencies } from "../subjects/dependencies.ts";
import type { EventType, EventTypes } from "../subjects/event-types/rules.ts";
import { sendTestEventRoute } from "../subjects/events/partner-routes.ts";
import { meRoute } from "../subjects/keys/partner-routes.ts";
import {
  createSubscriptionRoute,
  deleteSubscriptionRoute,
  listSubscriptionsRoute,
} from "../subjects/subscriptions/partner-routes.ts";
import type { App } from "./app.ts";
import { type AppOptions, buildApp } from "./build-app.ts";
import { type Desk, deskRoutes } from "./docs/desk.ts";
import { exampleRequest } from "./docs/event-pages.ts";
import { type AboutService, contactOf, docsRoutes, NO_ABOUT } from "./docs/routes.ts";
import { BUILT_SITE } from "./docs/site.ts";
import { type HealthChecks, healthRoutes } from "./health.ts";
import { openApiRoute, type Webhooks } from "./openapi.ts";
import { guardRoutes } from "./partner.ts";

/** The parts of the OpenAPI document besides the operations. */
const PARTNER_DOCUMENT = {
  info: {
    title: "Partner API",
    version: "1.0.0",
    summary: "Identity, and signed deliveries of events",
    description:
      "Check your API key, and subscribe https URLs to events. Each event is signed and sent until the receiver " +
      "acknowledges it or seven attempts have failed.\n\n" +
      "Every response carries `X-Request-Id`. Every authenticated response also carries `RateLimit-Policy` and " +
      "`RateLimit`. Besides the errors that an operation lists, any request may be answered with 400, 404, 405, " +
      "408 or 431, in the same format. Responses may gain new members and error codes: ignore those that you do " +
      "not know.",
  },
  tags: [
    { name: "Identity", description: "The organization and the scopes of the key." },
    { name: "Subscriptions", description: "The URLs that receive events." },
    { name: "Deliveries", description: "Test events, and the audit of failed attempts." },
    { name: "Events", description: "The deliveries that a subscription's URL receives." },
  ],
  security: {
    apiKey: {
      type: "http",
      scheme: "bearer",
      bearerFormat: "vck_<key_id>.<secret>",
      description: "The whole token. The word `Bearer` is optional.",
    },
  },
} as const;

/** Keywords of a place in a file, which a component does not have. */
const OF_PLACE = new Set(["$schema", "$id", "$anchor", "$dynamicAnchor", "$defs", "definitions"]);

/**
 * Returns the schemas of the types' `data` as components of the OpenAPI document, by name. A definition is a component, too: equal
 * definitions of several types are one. Names of types are in lower case, so that no definition has one.
 */
function componentsOf(types: readonly EventType[]): Record<string, object> {
  const index = new SchemaIndex(types);
  const names = new Map<string, string>();
  const components: Record<string, object> = {};
  for (const { name, schema } of types) names.set(index.textOf(schema as Schema), name);
  for (const { name, schema } of types) components[name] = component(schema as Schema);
  return components;

  function component(schema: Schema): Schema {
    const { $ref, $dynamicRef, ...rest } = schema;
    const own = Object.entries(rest)
      .filter(([keyword]) => !OF_PLACE.has(keyword))
      .map(([keyword, value]) => [keyword, parts(keyword, value)] as const);
    const reference = $ref ?? $dynamicRef;
    const target = typeof reference === "string" ? referenceOf(reference, schema) : {};
    return { ...target, ...Object.fromEntries(own) };
  }

  function parts(keyword: string, value: unknown): unknown {
    const inner = (part: unknown) => (isObject(part) ? component(part) : part);
    const kind = partsOf(keyword);
    if (kind === "itself") return inner(value);
    if (kind === "items" && Array.isArray(value)) return value.map(inner);
    if (kind !== "members" || !isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, inner(part)]));
  }

  function referenceOf(reference: string, from: Schema): Schema {
    const target = index.resolve(reference, from);
    if (!isObject(target)) return target === false ? { not: {} } : {};
    const text = index.textOf(target);
    const known = names.get(text) ?? nameFor(reference, (name) => name in components);
    if (!names.has(text)) {
      names.set(text, known);
      components[known] = {}; // So that a definition that refers to itself ends.
      components[known] = component(target);
    }
    return { $ref: `#/components/schemas/${known}` };
  }
}

/** `Data.address` for `#/$defs/address`. */
function nameFor(reference: string, isTaken: (name: string) => boolean): string {
  const last = decodeURIComponent(
    reference
      .replace(/\.json$/, "")
      .split(/[/#]/)
      .at(-1) ?? "",
  );
  const wanted = `Data.${last.replaceAll(/[^A-Za-z0-9._-]/g, "_")}`;
  let name = wanted;
  for (let i = 2; isTaken(name); i++) name = `${wanted}.${i}`;
  return name;
}

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

export interface PartnerAppOptions extends AppOptions {
  health: HealthChecks;
  /** The folder of the built documentation. Default: ours. */
  docs?: URL;
  /** Default: the documentation has no information of its operator. */
  about?: AboutService;
  /** Default: partners have no page. */
  desk?: Desk | null;
}

/** Builds the partners' listener. Until it listens, more routes may be added. */
export function buildPartnerApp(
  deps: Dependencies,
  { health, docs = BUILT_SITE, about = NO_ABOUT, desk = null, ...options }: PartnerAppOptions,
): App {
  const app = buildApp(options);
  const { eventTypes } = deps;
  healthRoutes(app, health);
  if (desk) deskRoutes(app, docs, desk, { baseUrl: options.baseUrl, eventTypes });
  docsRoutes(app, docs, { baseUrl: options.baseUrl, eventTypes, about });
  app.register(
    async (api: App) => {
      openApiRoute(api, PARTNER_DOCUMENT, {
        baseUrl: options.baseUrl,
        contact: contactOf(about),
        events: webhooksOf(eventTypes),
      });
      await api.after(); // The document includes the routes from here on.
      partnerRoutes(api, deps);
    },
    { prefix: "/api/v1/partner" },
  );
  return app;
}

/** The endpoints of the specification, in its order. */
function partnerRoutes(app: App, deps: Dependencies): void {
  guardRoutes(app, deps);
  meRoute(app);
  createSubscriptionRoute(app, deps);
  listSubscriptionsRoute(app, deps);
  deleteSubscriptionRoute(app, deps);
  sendTestEventRoute(app, deps);
  listFailuresRoute(app, deps);
}
