import { Type } from "typebox";
import { documented } from "../../http/openapi.ts";
import {
  pageOfCells,
  SENT_TIME,
  textOrNull,
  Timestamp,
  timestampOrNull,
} from "../../http/schema.ts";
import { idPattern } from "../../lib/ids.ts";
import { REASON } from "../deliveries/query.ts";
import { Delivery, eventPattern } from "../deliveries/schema.ts";
import { LABEL_MAX } from "../keys/rules.ts";
import {
  ACTIONS,
  RATE,
  REDELIVERABLE_STATES,
  REDELIVERY_STATES,
  REQUESTED_STATES,
} from "./rules.ts";

const State = Type.String({ enum: [...REDELIVERY_STATES] });
const Count = (description: string) => Type.Integer({ description });

export const Redelivery = Type.Object(
  {
    id: Type.String({ description: "`rdl_<uuid>`" }),
    action: Type.String({
      enum: [...ACTIONS],
      description: "What the job does with the deliveries.",
    }),
    reason: textOrNull("Why the deliveries are cancelled; null unless `action` is `cancel`."),
    state: State,
    filter: Type.Object(
      {
        organization: Type.String({ description: "`org_<uuid>`" }),
        subscription: textOrNull("`wh_<uuid>`"),
        state: textOrNull(
          "Null: dead-lettered and cancelled deliveries. `waiting` if `action` is `attempt_now` or `cancel`.",
        ),
        reason: textOrNull("The reason of the last failed attempt."),
        event: textOrNull("`evt_<uuid>` or an event type."),
        since: timestampOrNull("Created at or after."),
        until: timestampOrNull("Created before."),
      },
      { title: "RedeliveryFilter", description: "The filter that selects the deliveries." },
    ),
    to: textOrNull("The target, `wh_<uuid>`; null: each delivery's own subscription."),
    rate_per_second: Type.Integer(),
    total: Count(
      "The number of matches counted at the creation. It grows while the job finds more, and is exact at the end.",
    ),
    done: Count("Deliveries that were redelivered, made due or cancelled."),
    skipped: Count(
      "Deliveries that had already been redelivered, were due or in flight already, or did not wait any more.",
    ),
    failed: Count(
      "Deliveries that could not be sent: the subscription is not active or is held, or the event is gone.",
    ),
    created_by: Type.String({ description: "The name of the operator's token." }),
    created_at: Timestamp,
    finished_at: timestampOrNull(
      "When the last delivery was written; null until the job is finished.",
    ),
  },
  {
    title: "Redelivery",
    description: "A job that redelivers, attempts or cancels many deliveries.",
  },
);

export const RedeliveriesPage = pageOfCells(
  Redelivery,
  "RedeliveriesPage",
  "Redeliveries, newest first.",
);

export const RedeliveryPreview = Type.Object(
  {
    count: Count("The number of matches among the first 50,000 deliveries that were read."),
    estimated: Type.Boolean({
      description: "True if not all deliveries were read. Then more may match.",
    }),
    already_redelivered: Count("Matches that were already redelivered and would be skipped."),
    sample: Type.Array(Delivery, { description: "The newest matches, at most ten." }),
  },
  { title: "RedeliveryPreview", description: "A preview of a redelivery." },
);

const text = (description: string, constraints: object) =>
  Type.Optional(documented(constraints, Type.String({ description })));

/** `types`: the names of the known event types. */
export const redeliveryBody = (types: readonly string[]) =>
  Type.Object(
    {
      filter: Type.Object(
        {
          organization: text("`org_<uuid>` or a slug.", { minLength: 1 }),
          subscription: text("`wh_<uuid>`, also a deleted one.", { pattern: idPattern("wh") }),
          state: text(
            "Default: dead-lettered and cancelled deliveries. With `attempt_now` and `cancel`: `waiting`.",
            { enum: [...REDELIVERABLE_STATES, "waiting"] },
          ),
          reason: text("The reason of the last failed attempt.", { pattern: REASON.source }),
          event: text("`evt_<uuid>` or an event type.", { pattern: eventPattern(types) }),
          since: text("Created at or after, ISO 8601.", SENT_TIME),
          until: text("Created before, ISO 8601.", SENT_TIME),
        },
        {
          title: "RedeliveryFilterRequest",
          description: "At least one of `organization` and `subscription` is required.",
        },
      ),
      action: text("Redeliver finished deliveries, or attempt or cancel waiting ones.", {
        enum: [...ACTIONS],
        default: "redeliver",
      }),
      reason: text("Why the deliveries are cancelled, with `cancel` only. It stays with each.", {
        minLength: 1,
        maxLength: LABEL_MAX,
      }),
      to: text(
        "With `redeliver` only: another active subscription of the organization, `wh_<uuid>`.",
        {
          pattern: idPattern("wh"),
        },
      ),
      rate_per_second: Type.Optional(
        documented(
          { minimum: 1, maximum: RATE.max },
          Type.Integer({ description: `Default: ${RATE.default}; with \`cancel\` ${RATE.max}.` }),
        ),
      ),
      dry_run: Type.Optional(
        Type.Boolean({ description: "Count the matches and show a sample, but do nothing." }),
      ),
    },
    {
      title: "RedeliveryRequest",
      examples: [
        { filter: { organization: "acme", state: "dead_lettered" }, dry_run: true },
        {
          action: "cancel",
          filter: { organization: "acme", state: "waiting" },
          reason: "superseded",
        },
      ],
    },
  );

export const RedeliveryPatch = Type.Object(
  { state: Type.String({ enum: [...REQUESTED_STATES] }) },
  { title: "RedeliveryPatch", examples: [{ state: "paused" }] },
);

export const RedeliveryParams = Type.Object({ id: Type.String({ description: "`rdl_<uuid>`" }) });
