import { Type } from "typebox";
import {
  CellsPageQuery,
  NullableTimestamp,
  pageOf,
  pageOfCells,
  sentTime,
  textOrNull,
  Timestamp,
  timestampOrNull,
} from "../../http/schema.ts";
import { idPattern } from "../../lib/ids.ts";
import { OrganizationFilter, OrganizationLabel } from "../organizations/schema.ts";
import { HOST_TEXT, REASON } from "./query.ts";
import { DELIVERY_STATES, FAILURE_DETAILS, FAILURE_REASONS } from "./rules.ts";
import { COUNTED_EXACTLY } from "./search-sql.ts";

const Failure = Type.Object(
  {
    id: Type.String({ description: "`att_<uuid>`" }),
    subscription_id: Type.String({ description: "`wh_<uuid>`" }),
    event_id: Type.String({ description: "`evt_<uuid>`, as in the envelope" }),
    event_type: Type.String({ description: "`event` of the envelope" }),
    attempt: Type.Integer({ description: "The first attempt of a delivery is number 1." }),
    status: Type.String({ enum: ["failed", "dead_lettered"] }),
    http_status: Type.Integer({
      description: "The status that the receiver returned; 0 if it returned none.",
    }),
    reason: Type.Unsafe<string | null>({
      type: "string",
      description:
        "`http_<status>`, or why there was no status: " +
        `${FAILURE_REASONS.map((reason) => `\`${reason}\``).join(", ")}.`,
    }),
    detail: textOrNull(
      "What there is to add to the reason; null if nothing. " +
        `[Causes](/docs/troubleshooting#causes) explains ${FAILURE_DETAILS.map((one) => `\`${one}\``).join(", ")}.`,
    ),
    duration_ms: Type.Integer({ description: "The duration of the attempt." }),
    attempted_at: Timestamp,
    next_attempt_at: timestampOrNull(
      "When the next attempt was due; null if there was none. A later cancellation does not change it.",
    ),
  },
  {
    title: "Failure",
    description: "A failed attempt.",
    examples: [
      {
        id: "att_019bd1f2-1c00-7000-8a5b-2f9b1c3d4e5f",
        subscription_id: "wh_0b6e9f3c-58c1-4d0e-9c0f-3f8a6f0f2b11",
        event_id: "evt_019bd1f1-0a00-7000-9b1c-5d6e7f809a1b",
        event_type: "vc.test.ping",
        attempt: 3,
        status: "failed",
        http_status: 503,
        reason: "http_503",
        detail: null,
        duration_ms: 41,
        attempted_at: "2026-01-31T09:36:00.000Z",
        next_attempt_at: "2026-01-31T10:06:00.041Z",
      },
    ],
  },
);

export const FailuresPage = pageOf(Failure, "FailuresPage", "Failed attempts, newest first.");

const State = Type.String({ enum: [...DELIVERY_STATES] });
const NullableReason = textOrNull(
  "`http_<status>`, `timeout` and so on, as in the failures audit; null if none failed.",
);

const DELIVERY = {
  id: Type.String({ description: "`dlv_<uuid>`" }),
  event_id: Type.String({ description: "`evt_<uuid>`" }),
  event_type: Type.String(),
  subscription_id: Type.String({ description: "`wh_<uuid>`" }),
  organization_id: Type.String({ description: "`org_<uuid>`" }),
  organization: OrganizationLabel,
  host: Type.String({ description: "The host of the receiver's URL." }),
  request_id: textOrNull(
    "The id of the request that published the event; null if the SQL function published it.",
  ),
  redelivery_of: textOrNull("The delivery that this one repeats, `dlv_<uuid>`."),
  redelivered_as: textOrNull("The latest delivery that repeats this one, `dlv_<uuid>`."),
  state: State,
  attempts: Type.Integer({ description: "The number of attempts." }),
  reason: NullableReason,
  created_at: Timestamp,
  due_at: NullableTimestamp,
  finished_at: NullableTimestamp,
  held_at: timestampOrNull("Since when an operator holds its subscription, if it waits."),
  cancel_reason: textOrNull("Why an operator cancelled it; null if it was not, or a rule did."),
};

const EXAMPLE = {
  id: "dlv_019bd1f1-0a00-7001-8b1c-5d6e7f809a1b",
  event_id: "evt_019bd1f1-0a00-7000-9b1c-5d6e7f809a1b",
  event_type: "vc.test.ping",
  subscription_id: "wh_0b6e9f3c-58c1-4d0e-9c0f-3f8a6f0f2b11",
  organization_id: "org_6f1d2c3b-7a85-4e0c-8f55-0c9d0f1f7a10",
  organization: { id: "org_6f1d2c3b-7a85-4e0c-8f55-0c9d0f1f7a10", slug: "acme" },
  host: "hooks.example.com",
  request_id: "3c3f6a2e-5b0e-4a53-9d0d-2f6a3c1b7e55",
  redelivery_of: null,
  redelivered_as: null,
  state: "waiting",
  attempts: 1,
  reason: "http_503",
  created_at: "2026-01-31T09:30:00.000Z",
  due_at: "2026-01-31T09:31:00.041Z",
  finished_at: null,
  held_at: null,
  cancel_reason: null,
};

export const Delivery = Type.Object(DELIVERY, {
  title: "Delivery",
  description: "An event on its way to a subscription.",
  examples: [EXAMPLE],
});

const Counts = Type.Object(
  Object.fromEntries(DELIVERY_STATES.map((state) => [state, Type.Integer()])),
  {
    title: "DeliveryCounts",
    description: `The deliveries in each state that match the other filters. Exact up to ${COUNTED_EXACTLY}; ${COUNTED_EXACTLY + 1} stands for more.`,
  },
);

const Found = pageOfCells(Delivery, "DeliveriesPage", "Deliveries, newest first.");

export const DeliveriesPage = Type.Object(
  {
    ...Found.properties,
    searched_until: timestampOrNull(
      "If the search stopped before the end: only what was created since then has been searched, for the page and for the counts.",
    ),
    counts: Type.Optional(Counts),
  },
  { title: "DeliveriesPage", description: "Deliveries, newest first." },
);

const Attempt = Type.Object(
  {
    id: Type.String({ description: "`att_<uuid>`" }),
    subscription_id: Type.String(),
    event_id: Type.String(),
    event_type: Type.String(),
    attempt: Type.Integer({ description: "The first attempt of a delivery is number 1." }),
    status: Type.String({ enum: ["delivered", "failed", "dead_lettered"] }),
    http_status: Type.Integer({
      description: "The status that the receiver returned; 0 if it returned none.",
    }),
    reason: NullableReason,
    detail: textOrNull("What there is to add to the reason, as in the failures audit."),
    duration_ms: Type.Integer(),
    attempted_at: Timestamp,
    next_attempt_at: NullableTimestamp,
  },
  { title: "Attempt", description: "A finished attempt." },
);

const Standing = Type.Object(
  {
    organization_slug: Type.String(),
    url: Type.String(),
    auto_disabled_at: NullableTimestamp,
    deleted_at: NullableTimestamp,
    held_at: NullableTimestamp,
  },
  { title: "Standing", description: "Its subscription and the organization that owns it." },
);

export const DeliveryDetail = Type.Object(
  {
    ...DELIVERY,
    subscription: Standing,
    attempt_log: Type.Array(Attempt, {
      description: "Every finished attempt, oldest first.",
    }),
    redeliveries: Type.Array(Delivery, {
      description: "The deliveries that repeat this one, oldest first, at most 100.",
    }),
  },
  {
    title: "DeliveryDetail",
    description: "A delivery with its attempts and redeliveries.",
    examples: [
      {
        ...EXAMPLE,
        subscription: {
          organization_slug: "acme",
          url: "https://hooks.example.com/partner-api",
          auto_disabled_at: null,
          deleted_at: null,
          held_at: null,
        },
        attempt_log: [
          {
            id: "att_019bd1f1-0a00-7002-8a5b-2f9b1c3d4e5f",
            subscription_id: EXAMPLE.subscription_id,
            event_id: EXAMPLE.event_id,
            event_type: EXAMPLE.event_type,
            attempt: 1,
            status: "failed",
            http_status: 503,
            reason: "http_503",
            detail: null,
            duration_ms: 41,
            attempted_at: "2026-01-31T09:30:00.000Z",
            next_attempt_at: EXAMPLE.due_at,
          },
        ],
        redeliveries: [],
      },
    ],
  },
);

/** The pattern of an event's id, or of one of these types. */
export function eventPattern(types: readonly string[]): string {
  return `${idPattern("evt")}|^(?:${types.map((type) => type.replaceAll(".", "\\.")).join("|")})$`;
}

/** `types`: the names of the known event types. */
export const deliveriesQuery = (types: readonly string[]) =>
  Type.Object({
    organization: OrganizationFilter,
    subscription: Type.Optional(
      Type.String({
        pattern: idPattern("wh"),
        description: "Only to this subscription: `wh_<uuid>`.",
      }),
    ),
    host: Type.Optional(
      Type.String({
        pattern: HOST_TEXT.source,
        description: "Only to this receiver's host: the host, or a URL.",
      }),
    ),
    event: Type.Optional(
      Type.String({
        pattern: eventPattern(types),
        description: "Only of this event, `evt_<uuid>`, or of this event type.",
      }),
    ),
    state: Type.Optional(State),
    reason: Type.Optional(
      Type.String({
        pattern: REASON.source,
        description: "Only those whose last failed attempt failed for this reason.",
      }),
    ),
    since: sentTime("Created at or after."),
    until: sentTime("Created before."),
    count: Type.Optional(
      Type.Boolean({ description: "True: also count the matches in each state." }),
    ),
    ...CellsPageQuery.properties,
  });

export const DeliveryParams = Type.Object({ id: Type.String({ description: "`dlv_<uuid>`" }) });
