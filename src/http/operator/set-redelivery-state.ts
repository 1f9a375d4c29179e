import { setRedeliveryState } from "../../actions/redeliveries.ts";
import { parseId } from "../../domain/ids.ts";
import type { RequestedState } from "../../domain/redelivery.ts";
import type { Dependencies } from "../../actions/dependencies.ts";
import type { App } from "../app.ts";
import { BODY_PROBLEMS } from "../problem-schema.ts";
import { logChange, operatorProblems } from "./operation.ts";
import { Redelivery, RedeliveryParams, RedeliveryPatch } from "./redelivery-schema.ts";

const ACTIONS: Record<RequestedState, string> = {
  paused: "pause_redelivery",
  running: "resume_redelivery",
  cancelled: "cancel_redelivery",
};

export function setRedeliveryStateRoute(app: App, deps: Dependencies): void {
  app.patch(
    "/redeliveries/:id",
    {
      config: { spread: "one" },
      schema: {
        operationId: "setRedeliveryState",
        tags: ["Redeliveries"],
        summary: "Pause, resume or cancel a redelivery",
        description:
          "A resumed job is `queued` while another runs for the same subscription. Cancelling does not recall sent deliveries.",
        params: RedeliveryParams,
        body: RedeliveryPatch,
        response: {
          200: Redelivery,
          ...operatorProblems("not_found", "redelivery_finished", ...BODY_PROBLEMS),
        },
      },
    },
    async (request) => {
      const state = request.body.state as RequestedState;
      const { id } = request.params;
      const changed = await setRedeliveryState(deps, parseId("rdl", id), state);
      logChange(request, ACTIONS[state], changed.id);
      return changed;
    },
  );
}
