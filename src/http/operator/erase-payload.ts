import { Type } from "typebox";
import type { Dependencies } from "../../actions/dependencies.ts";
import { eraseEventPayload } from "../../actions/events.ts";
import { parseId } from "../../domain/ids.ts";
import type { App } from "../app.ts";
import { EventParams } from "./event-schema.ts";
import { logChange, operatorProblems } from "./operation.ts";

export function erasePayloadRoute(app: App, deps: Dependencies): void {
  app.delete(
    "/events/:id/payload",
    {
      schema: {
        operationId: "erasePayload",
        summary: "Erase the data of an event for good",
        description:
          "`data` becomes `{}`, and what still waits of the event is cancelled. An attempt that is under way may end.",
        params: EventParams,
        response: {
          204: Type.Null({ description: "The data is gone." }),
          ...operatorProblems("not_found"),
        },
      },
    },
    async (request, reply) => {
      const { id } = request.params;
      await eraseEventPayload(deps, parseId("evt", id));
      logChange(request, "erase_payload", id);
      return reply.code(204).send(null);
    },
  );
}
