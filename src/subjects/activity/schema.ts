import { Type } from "typebox";
import {
  nullable,
  NullableTimestamp,
  textOrNull,
  Timestamp,
  Unreachable,
} from "../../http/schema.ts";
import { OrganizationLabel } from "../organizations/schema.ts";
import { Bridge } from "../bridges/schema.ts";
import { Process } from "../processes/schema.ts";
import { SERVICE_STATUSES } from "./rules.ts";

export const Latency = Type.Object(
  {
    p50: nullable(Type.Integer()),
    p99: nullable(Type.Integer()),
    buckets: Type.Optional(
      Type.Record(Type.String(), Type.Integer(), {
        description:
          "Only with `mergeable`: the counts by the logarithm of the time to the base 1.15.",
      }),
    ),
  },
  {
    title: "Latency",
    description: "In milliseconds, accurate to 8 %; null if nothing was measured.",
  },
);

const SuccessShare = nullable(
  Type.Number({
    description: "The share of successful attempts, from 0 to 1; null if there were none.",
  }),
);

const Waiting = Type.Object(
  {
    due: nullable(Type.Integer({ description: "Deliveries that may be attempted now." })),
    scheduled: nullable(Type.Integer({ description: "Deliveries with a later retry." })),
    held: nullable(Type.Integer({ description: "Deliveries of held subscriptions." })),
    estimated: Type.Boolean({ description: "Counts are exact up to 10,000 and estimated above." }),
  },
  { title: "Waiting", description: "Waiting deliveries that no process has claimed." },
);

export const Health = Type.Object(
  {
    success_share: SuccessShare,
    attempt_ms: Latency,
    recent: Type.Array(
      Type.Object(
        {
          at: Timestamp,
          http_status: Type.Integer({ description: "0 if the receiver returned none." }),
          reason: textOrNull("Null for a success."),
          duration_ms: Type.Integer(),
        },
        { title: "RecentAttempt", description: "A summary of an attempt." },
      ),
      { description: "The last 100 attempts, oldest first." },
    ),
    waiting: Waiting,
    next_due_at: NullableTimestamp,
  },
  {
    title: "Health",
    description: "The health of deliveries. Share and latency cover the last 24 hours.",
  },
);

const Ranked = Type.Object(
  {
    id: Type.String({ description: "`wh_<uuid>`" }),
    organization: OrganizationLabel,
    url: Type.String(),
    host: Type.String(),
    active: Type.Boolean(),
    consecutive_failures: Type.Integer(),
    attempts: Type.Integer(),
    failed: Type.Integer(),
    success_share: SuccessShare,
    attempt_ms: Latency,
    measure: Type.Optional(
      Type.Number({
        description: "Only with `mergeable`: the number that the list is ordered by.",
      }),
    ),
  },
  {
    title: "RankedSubscription",
    description: "A subscription, and how its attempts of the last hour went.",
  },
);

const NearLimit = Type.Object(
  {
    organization: OrganizationLabel,
    rate_limit_per_minute: Type.Integer(),
    busiest_minute: Type.Integer({
      description: "The requests that passed in the busiest minute of the last hour.",
    }),
    rate_limited: Type.Integer({ description: "The requests that got 429 in the last hour." }),
  },
  { title: "NearLimit", description: "An organization that came near its rate limit." },
);

const Held = Type.Object(
  {
    id: Type.String({ description: "`wh_<uuid>`" }),
    organization: OrganizationLabel,
    url: Type.String(),
    host: Type.String(),
    held_at: Timestamp,
    release_by: Timestamp,
  },
  { title: "HeldSubscription", description: "A subscription that an operator holds." },
);

const Count = nullable(Type.Integer());

export const Overview = Type.Object(
  {
    status: Type.String({
      enum: [...SERVICE_STATUSES],
      description: "`down`: no events are accepted or none are delivered.",
    }),
    problems: Type.Array(
      Type.Object(
        {
          code: Type.String({
            description:
              "A check of `/readyz` such as `database` or `clock`, an internal fault, `lag`, `process_gone`, `no_dispatcher`, `event_types`, `export` or `held`.",
          }),
          detail: Type.String(),
          since: Timestamp,
        },
        { title: "ServiceProblem", description: "A reason why the service is not healthy." },
      ),
      { description: "The reasons why the status is not `ok`, longest-lasting first." },
    ),
    now: Type.Object(
      {
        deliveries_per_second: nullable(Type.Number()),
        success_share: SuccessShare,
        attempt_ms: Latency,
        waiting: Waiting,
        oldest_due_seconds: nullable(Type.Integer({ description: "0 if nothing is due." })),
        attempts_under_way: Count,
      },
      { title: "ServiceNow", description: "In the current minute and the one before." },
    ),
    last_24h: Type.Object(
      {
        published: Count,
        delivered: Count,
        dead_lettered: Count,
        cancelled: Count,
        disabled: nullable(Type.Integer({ description: "Subscriptions that were auto-disabled." })),
      },
      { title: "ServiceDay", description: "Over the last 24 hours." },
    ),
    failing: Type.Array(Ranked, {
      description: "The ten subscriptions with the most failed attempts of the last hour.",
    }),
    slowest: Type.Array(Ranked, {
      description: "The ten subscriptions with the slowest attempts of the last hour, by mean.",
    }),
    near_limit: Type.Array(NearLimit, {
      description:
        "The ten organizations that came nearest to their rate limit in the last hour, if any used half of it or got 429.",
    }),
    held: Type.Array(Held, {
      description: "The ten subscriptions that operators have held the longest.",
    }),
    processes: Type.Array(Process),
    bridges: Type.Array(Bridge, { description: "Bridges that report to the service." }),
    unreachable: Unreachable,
  },
  {
    title: "Overview",
    description:
      "The state of the service. While the database is unavailable, `status` is `down`, numbers are null and lists are empty.",
  },
);
