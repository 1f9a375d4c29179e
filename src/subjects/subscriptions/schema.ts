import type { FastifyRequest, preHandlerHookHandler } from "fastify";
import { Type } from "typebox";
import { URL_LENGTH_MAX } from "../../egress/index.ts";
import { callerOf } from "../../http/partner.ts";
import { faultsOf, type Violation } from "../../http/problem.ts";
import { documented } from "../../http/openapi.ts";
import { nullable, pageOfCells, Timestamp, timestampOrNull } from "../../http/schema.ts";
import { type Fault, invalidRequest, listed } from "../../lib/errors.ts";
import type { Dependencies } from "../dependencies.ts";
import { type EventTypes, NOTICE_TYPES } from "../event-types/rules.ts";
import { OrganizationLabel } from "../organizations/schema.ts";
import { CEILING_MAX } from "./rules.ts";

/** The most types in a list, unless more types exist. */
const EVENTS_MAX = 50;

const SUBSCRIPTION = {
  id: Type.String({ description: "`wh_<uuid>`" }),
  organization_id: Type.String({ description: "`org_<uuid>`" }),
  url: Type.String({ description: "The https URL that receives deliveries, as it was submitted." }),
  events: Type.Array(Type.String(), {
    description: "The event types that are delivered to the URL.",
  }),
  active: Type.Boolean({ description: "False if the subscription was auto-disabled." }),
  auto_disabled_at: timestampOrNull("When the subscription was auto-disabled, or null."),
  consecutive_failures: Type.Integer({ description: "Failed attempts since the last success." }),
  created_at: Timestamp,
};

const EXAMPLE = {
  id: "wh_0b6e9f3c-58c1-4d0e-9c0f-3f8a6f0f2b11",
  organization_id: "org_6f1d2c3b-7a85-4e0c-8f55-0c9d0f1f7a10",
  url: "https://hooks.example.com/partner-api",
  events: ["vc.test.ping"],
  active: true,
  auto_disabled_at: null,
  consecutive_failures: 0,
  created_at: "2026-01-31T09:30:00.000Z",
};

const Subscription = Type.Object(SUBSCRIPTION, {
  title: "Subscription",
  description: "A URL that receives events.",
});

export const Subscriptions = Type.Array(Subscription, {
  description: "The organization's subscriptions, newest first.",
  examples: [[EXAMPLE]],
});

export const NewSubscription = Type.Object(
  {
    ...SUBSCRIPTION,
    secret: Type.String({
      description: "`whsec_…`, the signing secret. Only this response contains it.",
    }),
  },
  {
    title: "NewSubscription",
    description: "The subscription with its signing secret.",
    examples: [{ ...EXAMPLE, secret: `whsec_${"A".repeat(44)}` }],
  },
);

/** Returns the schema of the body that subscribes a URL to some of these types. */
export function subscriptionRequest({ names }: Pick<EventTypes, "names">) {
  return Type.Object(
    {
      url: Type.String({
        maxLength: URL_LENGTH_MAX,
        description: "The receiver: an https URL of a public host, at most 2,048 characters.",
      }),
      events: Type.Array(Type.String({ title: "EventTypeName", enum: [...names] }), {
        minItems: 1,
        maxItems: Math.max(EVENTS_MAX, names.length),
        uniqueItems: true,
        description: `One or more event types, each once. Known types: ${listed(names)}.`,
      }),
    },
    {
      title: "SubscriptionRequest",
      description: "A URL and the event types to deliver to it.",
      examples: [{ url: EXAMPLE.url, events: EXAMPLE.events }],
    },
  );
}

export const SubscriptionParams = Type.Object({
  id: Type.String({ description: "`wh_<uuid>`" }),
});

const Ceiling = nullable(
  Type.Integer({
    minimum: 1,
    maximum: CEILING_MAX,
    description: `Attempts per second, from 1 to ${CEILING_MAX}; null for no ceiling.`,
  }),
);

export const OperatedSubscription = Type.Object(
  {
    ...Subscriptions.items.properties,
    organization: OrganizationLabel,
    max_per_second: Ceiling,
    held_at: timestampOrNull("Since when an operator holds it; null: not held."),
    release_by: timestampOrNull(
      "When it must be released at the latest, because waiting deliveries then become older than `RETENTION`.",
    ),
  },
  {
    title: "OperatedSubscription",
    description: "A subscription, with its organization, the ceiling on its attempts and its hold.",
  },
);

export const OperatedSubscriptionsPage = pageOfCells(
  OperatedSubscription,
  "SubscriptionsPage",
  "Subscriptions, newest first.",
);

export const SubscriptionPatch = documented(
  { minProperties: 1 },
  Type.Object(
    {
      max_per_second: Type.Optional(Ceiling),
      held: Type.Optional(
        Type.Boolean({ description: "True: hold the subscription. False: release it." }),
      ),
    },
    {
      title: "SubscriptionPatch",
      examples: [{ max_per_second: 10 }, { held: true }, { held: false, max_per_second: 20 }],
    },
  ),
);

type Deps = Pick<Dependencies, "eventTypes" | "platformOrganization">;

/**
 * Refuses a body that the route's schema refuses. But the platform's organization may also list notices, which do not exist for
 * others. The route needs `attachValidation`.
 */
export function requireSubscriptionBody(deps: Deps): preHandlerHookHandler {
  const judge = judgeSubscription(deps);
  return (request, _reply, done) => {
    const { validationError } = request;
    if (!validationError || !isPlatform(deps, request) || request.body === undefined) {
      done(validationError);
      return;
    }
    const faults = judge(request);
    done(faults.length === 0 ? undefined : invalidRequest(faults));
  };
}

/** Returns a function that returns the faults of a new subscription for its caller. */
export function judgeSubscription(deps: Deps): (request: FastifyRequest) => Fault[] {
  const ofPlatform = subscriptionRequest({ names: [...deps.eventTypes.names, ...NOTICE_TYPES] });
  return (request) => {
    const validate = isPlatform(deps, request)
      ? request.compileValidationSchema(ofPlatform, "body")
      : request.getValidationFunction("body");
    return validate?.(request.body) === false
      ? faultsOf((validate.errors ?? []) as Violation[])
      : [];
  };
}

function isPlatform({ platformOrganization }: Deps, request: FastifyRequest): boolean {
  return callerOf(request).slug === platformOrganization;
}
