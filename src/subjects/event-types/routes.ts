import type { App } from "../../http/app.ts";
import { operatorProblems, readFilters } from "../../http/operator.ts";
import { CellsPageQuery, readByHand, readPageRequest } from "../../http/schema.ts";
import type { Dependencies } from "../dependencies.ts";
import { EventTypesPage } from "../events/schema.ts";
import { pageOfEventTypes } from "../events/work.ts";

export function listEventTypesRoute(app: App, deps: Dependencies): void {
  app.get(
    "/event-types",
    {
      config: { spread: "ascending", servesPublishers: true },
      schema: {
        operationId: "listEventTypes",
        tags: ["Events"],
        summary: "List event types",
        description:
          "The event types of this process. `last_published_at` is null if no event of the type is kept; for the " +
          "service's own types, if none is among the newest 10,000 events.",
        querystring: CellsPageQuery,
        response: { 200: EventTypesPage, ...operatorProblems("invalid_request") },
      },
      validatorCompiler: readByHand,
    },
    async ({ query }) =>
      pageOfEventTypes(deps, { ...readFilters(query, CellsPageQuery), ...readPageRequest(query) }),
  );
}
