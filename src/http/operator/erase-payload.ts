import { Type } from "typebox";
import { eraseEventPayload } from "../../actions/events.ts";
import { parseId } from "../../domain/ids.ts";
import type { Dependencies } from "../../actions/dependencies.ts";
import type { App } from "../app.ts";
import { EventParams } from "./event-schema.ts";
import { logChange, operatorProblems } from "./operation.ts";

export function erasePayloadRoute(app: App, deps: Dependencies): void {
  app.delete(
    "/events/:id/payload",
    {
      config: { spread: "one" },
      schema: {
        operationId: "erasePayload",
        tags: ["Events"],
        summary: "Erase the data of an event permanently",
        description:
          "Sets `data` to `{}` and cancels the event's waiting deliveries. An attempt in flight may still finish.",
        params: EventParams,
        response: {
          204: Type.Null({ description: "The data is erased." }),
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
