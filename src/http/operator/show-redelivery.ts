import { getRedelivery } from "../../actions/redeliveries.ts";
import { parseId } from "../../domain/ids.ts";
import type { Dependencies } from "../../actions/dependencies.ts";
import type { App } from "../app.ts";
import { operatorProblems } from "./operation.ts";
import { Redelivery, RedeliveryParams } from "./redelivery-schema.ts";

export function showRedeliveryRoute(app: App, deps: Dependencies): void {
  app.get(
    "/redeliveries/:id",
    {
      config: { spread: "one" },
      schema: {
        operationId: "getRedelivery",
        tags: ["Redeliveries"],
        summary: "Show a redelivery",
        description: "Its state and its progress.",
        params: RedeliveryParams,
        response: { 200: Redelivery, ...operatorProblems("not_found") },
      },
    },
    async ({ params }) => getRedelivery(deps, parseId("rdl", params.id)),
  );
}
