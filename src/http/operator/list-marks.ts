import { Type } from "typebox";
import { viewMarks } from "../../actions/marks.ts";
import type { Dependencies } from "../../actions/dependencies.ts";
import { MARK_KINDS } from "../../domain/marks.ts";
import type { App } from "../app.ts";
import { readByHand, Unreachable } from "../page-schema.ts";
import { Timestamp, sentTime } from "../timestamp-schema.ts";
import { operatorProblems, readFilters } from "./operation.ts";

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

const Query = Type.Object({
  since: sentTime("At or after. Default: 8 days ago."),
});

export function listMarksRoute(app: App, deps: Dependencies): void {
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
        querystring: Query,
        response: { 200: Marks, ...operatorProblems("invalid_request") },
      },
      validatorCompiler: readByHand,
    },
    async ({ query }) => viewMarks(deps, readFilters(query, Query)),
  );
}
