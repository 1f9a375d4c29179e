import type { Dependencies } from "../../actions/dependencies.ts";
import { getEvent } from "../../actions/events.ts";
import { parseId } from "../../domain/ids.ts";
import type { App } from "../app.ts";
import { EventDetail, EventParams } from "./event-schema.ts";
import { operatorProblems } from "./operation.ts";

export function showEventRoute(app: App, deps: Dependencies): void {
  app.get(
    "/events/:id",
    {
      config: { servesPublishers: true },
      schema: {
        operationId: "getEvent",
        summary: "Show an event with its deliveries",
        description: "Every event, as long as the retention: the service's own ones, too.",
        params: EventParams,
        response: { 200: EventDetail, ...operatorProblems("not_found") },
      },
    },
    async ({ params }) => getEvent(deps, parseId("evt", params.id)),
  );
}
