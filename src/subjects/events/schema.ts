import { Type } from "typebox";
import { NullableTimestamp, pageOfCells, textOrNull, Timestamp } from "../../http/schema.ts";
import { Delivery } from "../deliveries/schema.ts";
import { DATA_BYTES_MAX, DATA_DEPTH_MAX, DEDUPE_KEY_RULE, EVENTS_OF_REQUEST_MAX } from "./rules.ts";

const EVENT = {
  organization: Type.String({ description: "The event's organization: `org_<uuid>` or a slug." }),
  type: Type.String({ description: "A known type: see `GET /event-types`." }),
  data: Type.Object(
    {},
    {
      additionalProperties: true,
      description:
        `The data, valid against the type's schema; at most ${DATA_BYTES_MAX / 1024} KiB as JSON, with ` +
        `at most ${DATA_DEPTH_MAX} nested objects and arrays.`,
    },
  ),
  occurred_at: Type.String({
    format: "date-time",
    description:
      "When the event occurred: at most 5 minutes ahead and not older than the retention period. Default: the time of publishing.",
  }),
  dedupe_key: Type.String({
    description:
      `${DEDUPE_KEY_RULE}. A second event of the organization with this key within 24 hours is not published: ` +
      "the response contains the id of the first one.",
  }),
};

const EXAMPLE = {
  organization: "acme",
  type: "order.created",
  data: { order_id: "ord_1042", amount: 1999, currency: "EUR" },
  dedupe_key: "order-1042-created",
};

const REQUIRED = ["organization", "type", "data"];

const ONE_EVENT = {
  title: "NewEvent",
  description: "An event to publish.",
  type: "object",
  properties: EVENT,
  required: REQUIRED,
  examples: [EXAMPLE],
};

const EVENTS = {
  events: {
    type: "array",
    minItems: 1,
    maxItems: EVENTS_OF_REQUEST_MAX,
    items: ONE_EVENT,
  },
};

/** One event or a batch. This is documentation: the action reads bodies itself, to name the faults of each event. */
export const PublishRequest = Type.Unsafe<unknown>({
  title: "PublishRequest",
  description: "One event, or `events`: either all of them are published, or none.",
  oneOf: [
    ONE_EVENT,
    { title: "NewEvents", type: "object", properties: EVENTS, required: ["events"] },
  ],
  examples: [EXAMPLE, { events: [EXAMPLE] }],
});

const PUBLISHED = {
  event_id: Type.String({
    description: "`evt_<uuid>`; for a duplicate, the id of the first event.",
  }),
  deliveries: Type.Integer({ description: "The number of deliveries written; 0 for a duplicate." }),
  duplicate: Type.Boolean({
    description: "True if the event is a duplicate and was not published.",
  }),
};

const PUBLISHED_EXAMPLE = {
  event_id: "evt_019bd1f1-0a00-7000-9b1c-5d6e7f809a1b",
  deliveries: 3,
  duplicate: false,
};

/** The result of one event, or of each of a batch. */
export const PublishAnswer = Type.Unsafe<object>({
  title: "PublishAnswer",
  type: "object",
  description: "The members for one event, or `items` for a batch, in the order of the request.",
  properties: {
    ...PUBLISHED,
    items: {
      type: "array",
      items: {
        title: "PublishedEvent",
        type: "object",
        properties: PUBLISHED,
        required: Object.keys(PUBLISHED),
      },
    },
  },
  examples: [PUBLISHED_EXAMPLE, { items: [PUBLISHED_EXAMPLE] }],
});

export const EventParams = Type.Object({ id: Type.String({ description: "`evt_<uuid>`" }) });

export const EventQuery = Type.Object({
  data: Type.Optional(
    Type.String({
      enum: ["true", "false"],
      default: "true",
      description: "False leaves `data` out.",
    }),
  ),
});

export const EventDetail = Type.Object(
  {
    id: Type.String({ description: "`evt_<uuid>`" }),
    organization: Type.String({ description: "The organization's slug." }),
    type: Type.String(),
    occurred_at: Timestamp,
    published_at: Timestamp,
    request_id: textOrNull("The request that published it."),
    data: Type.Optional(Type.Object({}, { additionalProperties: true })),
    deliveries: Type.Array(Delivery, { description: "Newest first, redeliveries included." }),
  },
  { title: "EventDetail", description: "An event with its deliveries." },
);

const ListedType = Type.Object(
  {
    type: Type.String(),
    summary: Type.String(),
    subscriptions: Type.Integer({
      description: "The number of active subscriptions that list the type.",
    }),
    last_published_at: NullableTimestamp,
  },
  { title: "EventType", description: "A kind of event." },
);

export const EventTypesPage = pageOfCells(
  ListedType,
  "EventTypesPage",
  "Event types, in order of name.",
);
