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
        summary: "Show how the service is",
        description: "Whether it is healthy and if not, since when and why; and what it does now.",
        response: { 200: Overview, ...operatorProblems() },
      },
    },
    ({ mayHaveEnded }) => (mayHaveEnded ? overviews.readOutage() : overviews.read()),
  );
}
