import type { OverviewReader } from "../../actions/overview-reader.ts";
import type { App } from "../app.ts";
import { operatorProblems } from "./operation.ts";
import { Overview } from "./overview-schema.ts";

export function showOverviewRoute(app: App, overviews: OverviewReader): void {
  app.get(
    "/overview",
    {
      config: { answersWithoutDatabase: true },
      schema: {
        operationId: "getOverview",
        tags: ["Operation"],
        summary: "Show the state of the service",
        description: "Its health, the reasons if it is not healthy, and its current activity.",
        response: { 200: Overview, ...operatorProblems() },
      },
    },
    ({ mayHaveEnded }) => (mayHaveEnded ? overviews.readOutage() : overviews.read()),
  );
}
