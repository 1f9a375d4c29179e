import { idPattern } from "../../domain/ids.ts";
import { Type } from "typebox";
import { getActivity } from "../../actions/list-activity.ts";
import { STEPS_MS } from "../../domain/activity.ts";
import type { Dependencies } from "../../actions/dependencies.ts";
import type { App } from "../app.ts";
import { Mergeable, readByHand, Unreachable } from "../page-schema.ts";
import { Timestamp, sentTime } from "../timestamp-schema.ts";
import { Latency } from "./latency-schema.ts";
import { operatorProblems, readFilters } from "./operation.ts";
import { OrganizationFilter } from "./organization-schema.ts";

const Query = Type.Object({
  organization: OrganizationFilter,
  subscription: Type.Optional(
    Type.String({
      pattern: idPattern("wh"),
      description: "Only of this subscription: `wh_<uuid>`. Without `organization`.",
    }),
  ),
  since: sentTime("Default: an hour before `until`."),
  until: sentTime("Default: now."),
  step: Type.Optional(
    Type.String({
      enum: Object.keys(STEPS_MS),
      default: "1m",
      description: "The time that a point covers.",
    }),
  ),
  mergeable: Mergeable,
});

const Point = Type.Object(
  {
    at: Timestamp,
    published: Type.Integer({
      description: "The published events. For a subscription: its new deliveries.",
    }),
    attempts: Type.Integer(),
    succeeded: Type.Integer(),
    failed: Type.Integer(),
    by_reason: Type.Record(Type.String(), Type.Integer(), {
      description: "Failed attempts by reason. Rare reasons of one minute are counted as `other`.",
    }),
    attempt_ms: Latency,
    end_to_end_ms: Latency,
    requests: Type.Optional(
      Type.Integer({ description: "For an organization: authenticated requests." }),
    ),
    rate_limited: Type.Optional(
      Type.Integer({ description: "For an organization: requests that were answered with 429." }),
    ),
  },
  { title: "ActivityPoint", description: "What happened in a span of time." },
);

const Activity = Type.Object(
  { items: Type.Array(Point), unreachable: Unreachable },
  {
    title: "Activity",
    description: "At most 1,000 points, earliest first, including points without activity.",
  },
);

export function listActivityRoute(app: App, deps: Dependencies): void {
  app.get(
    "/activity",
    {
      config: { spread: "merged" },
      schema: {
        operationId: "listActivity",
        tags: ["Operation"],
        summary: "Show activity over time",
        description:
          "For the service, an organization or a subscription. Activity is written every 5 s. Minutes older than 48 hours are merged into " +
          "hours: the first one then has the numbers of the whole hour, and the others have 0. End-to-end latency runs from publishing to delivery.",
        querystring: Query,
        response: { 200: Activity, ...operatorProblems("not_found", "invalid_request") },
      },
      validatorCompiler: readByHand,
    },
    async ({ query }) => getActivity(deps, readFilters(query, Query)),
  );
}
