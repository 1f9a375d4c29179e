import { Type } from "typebox";
import type { App } from "../../http/app.ts";
import { operatorProblems, readFilters } from "../../http/operator.ts";
import { Mergeable, readByHand, sentTime, Timestamp, Unreachable } from "../../http/schema.ts";
import { type Fault, requireNoFaults } from "../../lib/errors.ts";
import { idPattern } from "../../lib/ids.ts";
import { readBoolean } from "../deliveries/query.ts";
import type { Dependencies } from "../dependencies.ts";
import { OrganizationFilter } from "../organizations/schema.ts";
import { MARK_KINDS } from "../processes/rules.ts";
import { viewMarks } from "./marks.ts";
import { streamOverviewRoute } from "./overview-streams.ts";
import { OverviewReader } from "./overview.ts";
import { STEPS_MS } from "./rules.ts";
import { Latency, Overview } from "./schema.ts";
import { getActivity } from "./work.ts";

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

/** `connectionsMax`: the most connections of the listener. */
export function activityRoutes(app: App, deps: Dependencies, connectionsMax: number): void {
  const overviews = new OverviewReader(deps);
  showOverviewRoute(app, overviews);
  streamOverviewRoute(app, deps, { overviews, connectionsMax });
  listActivityRoute(app, deps);
  listMarksRoute(app, deps);
}

function listActivityRoute(app: App, deps: Dependencies): void {
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

const Mark = Type.Object(
  {
    at: Timestamp,
    kind: Type.String({ enum: [...MARK_KINDS] }),
    label: Type.String({ description: "What changed, in words." }),
  },
  { title: "Mark", description: "A change that a chart marks at its time." },
);

const Marks = Type.Object(
  { items: Type.Array(Mark), unreachable: Unreachable },
  { title: "Marks", description: "At most 200, latest first." },
);

const MarksQuery = Type.Object({
  since: sentTime("At or after. Default: 8 days ago."),
});

function listMarksRoute(app: App, deps: Dependencies): void {
  app.get(
    "/marks",
    {
      config: { spread: "merged" },
      schema: {
        operationId: "listMarks",
        tags: ["Operation"],
        summary: "List what changed the service",
        description:
          "Processes that started or stopped, releases, auto-disabled subscriptions and changes by operators. Starts and stops " +
          "are kept for 8 days.",
        querystring: MarksQuery,
        response: { 200: Marks, ...operatorProblems("invalid_request") },
      },
      validatorCompiler: readByHand,
    },
    async ({ query }) => viewMarks(deps, readFilters(query, MarksQuery)),
  );
}

const OverviewQuery = Type.Object({ mergeable: Mergeable });

function showOverviewRoute(app: App, overviews: OverviewReader): void {
  app.get(
    "/overview",
    {
      config: { spread: "own", answersWithoutDatabase: true },
      schema: {
        operationId: "getOverview",
        tags: ["Operation"],
        summary: "Show the state of the service",
        description: "Its health, the reasons if it is not healthy, and its current activity.",
        querystring: OverviewQuery,
        response: { 200: Overview, ...operatorProblems("invalid_request") },
      },
      validatorCompiler: readByHand,
    },
    ({ mayHaveEnded, query }) => {
      const faults: Fault[] = [];
      const isMergeable = readBoolean(
        "/mergeable",
        readFilters(query, OverviewQuery).mergeable,
        faults,
      );
      requireNoFaults(faults);
      if (mayHaveEnded) return overviews.readOutage();
      return isMergeable ? overviews.readMergeable() : overviews.read();
    },
  );
}
