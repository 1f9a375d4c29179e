import { Type } from "typebox";
import type { OverviewReader } from "../../actions/overview-reader.ts";
import { readBoolean } from "../../actions/queries.ts";
import { type Fault, requireNoFaults } from "../../domain/errors.ts";
import type { App } from "../app.ts";
import { Mergeable, readByHand } from "../page-schema.ts";
import { operatorProblems, readFilters } from "./operation.ts";
import { Overview } from "./overview-schema.ts";

const Query = Type.Object({ mergeable: Mergeable });

export function showOverviewRoute(app: App, overviews: OverviewReader): void {
  app.get(
    "/overview",
    {
      config: { spread: "own", answersWithoutDatabase: true },
      schema: {
        operationId: "getOverview",
        tags: ["Operation"],
        summary: "Show the state of the service",
        description: "Its health, the reasons if it is not healthy, and its current activity.",
        querystring: Query,
        response: { 200: Overview, ...operatorProblems("invalid_request") },
      },
      validatorCompiler: readByHand,
    },
    ({ mayHaveEnded, query }) => {
      const faults: Fault[] = [];
      const isMergeable = readBoolean("/mergeable", readFilters(query, Query).mergeable, faults);
      requireNoFaults(faults);
      if (mayHaveEnded) return overviews.readOutage();
      return isMergeable ? overviews.readMergeable() : overviews.read();
    },
  );
}
