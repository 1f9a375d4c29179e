import { Type } from "typebox";
import type { App } from "../../http/app.ts";
import { operatorProblems } from "../../http/operator.ts";
import { BODY_PROBLEMS } from "../../http/problem.ts";
import { noSuch } from "../../lib/errors.ts";
import { type BridgeId, parseId } from "../../lib/ids.ts";
import type { Dependencies } from "../dependencies.ts";
import { BridgeParams, BridgeReportRequest } from "./schema.ts";
import { forgetBridge, reportBridge } from "./work.ts";

/** Bridges report to the first cell, because a bridge publishes for the organizations of all of them. */
export function bridgeRoutes(app: App, deps: Dependencies): void {
  app.put(
    "/bridges/:id",
    {
      config: { spread: "first", servesPublishers: true },
      schema: {
        operationId: "reportBridge",
        tags: ["Operation"],
        summary: "Report a bridge",
        description:
          "A bridge calls this every 10 s, and the overview shows it. The 50 bridges that reported last are kept.",
        params: BridgeParams,
        body: BridgeReportRequest,
        response: {
          204: Type.Null({ description: "The overview shows the report." }),
          ...operatorProblems("not_found", ...BODY_PROBLEMS),
        },
      },
    },
    async ({ params, body }, reply) => {
      await reportBridge(deps, idOf(params), body);
      return reply.code(204).send(null);
    },
  );
  app.delete(
    "/bridges/:id",
    {
      config: { spread: "first", servesPublishers: true },
      schema: {
        operationId: "forgetBridge",
        tags: ["Operation"],
        summary: "Take a bridge out of the overview",
        description: "A bridge calls this when it stops.",
        params: BridgeParams,
        response: {
          204: Type.Null({ description: "The overview does not show it." }),
          ...operatorProblems("not_found"),
        },
      },
    },
    async ({ params }, reply) => {
      await forgetBridge(deps, idOf(params));
      return reply.code(204).send(null);
    },
  );
}

function idOf(params: { id: string }): BridgeId {
  const id = parseId("brg", params.id);
  if (id === null) throw noSuch("bridge");
  return id;
}
