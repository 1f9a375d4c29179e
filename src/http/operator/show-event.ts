import { getEvent } from "../../actions/events.ts";
import { parseId } from "../../domain/ids.ts";
import type { Dependencies } from "../../actions/dependencies.ts";
import type { App } from "../app.ts";
import { readByHand } from "../page-schema.ts";
import { recordAccess } from "./changes.ts";
import { EventDetail, EventParams, EventQuery } from "./event-schema.ts";
import { operatorProblems, readFilters } from "./operation.ts";

export function showEventRoute(app: App, deps: Dependencies): void {
  app.get(
    "/events/:id",
    {
      config: { spread: "one", servesPublishers: true },
      schema: {
        operationId: "getEvent",
        tags: ["Events"],
        summary: "Show an event with its deliveries",
        description:
          "Events of the retention period, test events included. Reading `data` is recorded as a change; with " +
          "`data=false` the response leaves it out, and nothing is recorded.",
        params: EventParams,
        querystring: EventQuery,
        response: { 200: EventDetail, ...operatorProblems("not_found") },
      },
      validatorCompiler: readByHand,
    },
    async (request, reply) => {
      const { data, ...event } = await getEvent(deps, parseId("evt", request.params.id));
      if (readFilters(request.query, EventQuery).data === "false") return event;
      // Publishers read their own events. Access by people is recorded.
      if (request.role !== "publish") await recordAccess(deps, request, event.id);
      // As stored: JavaScript would round numbers of events that SQL published before it refused them.
      const shown = reply.serialize(event) as string;
      reply.type("application/json; charset=utf-8");
      return reply.serializer(() => `${shown.slice(0, -1)},"data":${data}}`).send(event);
    },
  );
}
