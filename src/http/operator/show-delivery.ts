import { getDelivery } from "../../actions/deliveries.ts";
import { parseId } from "../../domain/ids.ts";
import type { Dependencies } from "../../actions/dependencies.ts";
import type { App } from "../app.ts";
import { DeliveryDetail, DeliveryParams } from "./delivery-schema.ts";
import { operatorProblems } from "./operation.ts";

export function showDeliveryRoute(app: App, deps: Dependencies): void {
  app.get(
    "/deliveries/:id",
    {
      config: { spread: "one" },
      schema: {
        operationId: "getDelivery",
        tags: ["Deliveries"],
        summary: "Show a delivery with its attempts",
        description: "Lists every attempt with its outcome, including the successful one.",
        params: DeliveryParams,
        response: { 200: DeliveryDetail, ...operatorProblems("not_found") },
      },
    },
    async ({ params }) => getDelivery(deps, parseId("dlv", params.id)),
  );
}
