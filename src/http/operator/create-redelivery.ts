import { createRedelivery, previewRedelivery } from "../../actions/redeliveries.ts";
import type { Dependencies } from "../../actions/dependencies.ts";
import type { App } from "../app.ts";
import { BODY_PROBLEMS } from "../problem-schema.ts";
import { operatorOf } from "./admission.ts";
import { logChange, operatorProblems } from "./operation.ts";
import { Redelivery, redeliveryBody, RedeliveryPreview } from "./redelivery-schema.ts";

export function createRedeliveryRoute(app: App, deps: Dependencies): void {
  app.post(
    "/redeliveries",
    {
      config: { spread: "one" },
      schema: {
        operationId: "createRedelivery",
        tags: ["Redeliveries"],
        summary: "Redeliver many deliveries",
        description:
          "Starts a job that redelivers the events of all finished deliveries that match, at a bounded rate. It skips " +
          "deliveries that were already redelivered. One job runs at a time for each subscription; others wait.",
        body: redeliveryBody(deps.eventTypes.names),
        response: {
          200: RedeliveryPreview,
          202: Redelivery,
          ...operatorProblems(
            "not_found",
            "subscription_inactive",
            "redelivery_limit",
            ...BODY_PROBLEMS,
          ),
        },
      },
    },
    async (request, reply) => {
      if (request.body.dry_run) {
        return reply.code(200).send(await previewRedelivery(deps, request.body));
      }
      const made = await createRedelivery(deps, request.body, operatorOf(request));
      logChange(request, "create_redelivery", made.id);
      return reply.code(202).send(made);
    },
  );
}
