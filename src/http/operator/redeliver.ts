import { Type } from "typebox";
import type { FastifyRequest } from "fastify";
import { redeliver } from "../../actions/redeliver.ts";
import { viewDelivery } from "../../actions/views/delivery.ts";
import { parseId } from "../../domain/ids.ts";
import type { Dependencies } from "../../actions/dependencies.ts";
import type { App } from "../app.ts";
import { BODY_PROBLEMS } from "../problem-schema.ts";
import { Delivery, DeliveryParams } from "./delivery-schema.ts";
import { logChange, operatorProblems } from "./operation.ts";

/** The body may be omitted. */
const RedeliveryRequest = Type.Unsafe<{ to?: string } | null>({
  title: "RedeliverRequest",
  type: ["object", "null"],
  properties: {
    to: {
      type: "string",
      description: "Another active subscription of the organization, `wh_<uuid>`.",
    },
  },
  examples: [{}, { to: "wh_0b6e9f3c-58c1-4d0e-9c0f-3f8a6f0f2b11" }],
});

/** Many clients send a media type without a body, and an empty text is not JSON. */
function forgetTypeOfNothing({ headers }: FastifyRequest): void {
  const { "content-length": length = "0", "transfer-encoding": coding } = headers;
  if (length === "0" && coding === undefined) delete headers["content-type"];
}

export function redeliverRoute(app: App, deps: Dependencies): void {
  app.post(
    "/deliveries/:id/redeliver",
    {
      config: { spread: "one" },
      onRequest: (request, _reply, done) => {
        forgetTypeOfNothing(request);
        done();
      },
      schema: {
        operationId: "redeliver",
        tags: ["Deliveries"],
        summary: "Redeliver the event of a delivery",
        description:
          "Creates a new delivery of the same event, with its own attempts. Only for a delivery that is " +
          "dead-lettered or cancelled, and only to an active subscription. The body is optional.",
        params: DeliveryParams,
        body: RedeliveryRequest,
        response: {
          202: Delivery,
          ...operatorProblems(
            "not_found",
            "not_redeliverable",
            "subscription_inactive",
            ...BODY_PROBLEMS,
          ),
        },
      },
    },
    async (request, reply) => {
      const { id } = request.params;
      const said = request.body?.to;
      const to = said === undefined ? undefined : parseId("wh", said);
      const made = viewDelivery(await redeliver(deps, parseId("dlv", id), to));
      logChange(request, "redeliver", id);
      return reply.code(202).send(made);
    },
  );
}
