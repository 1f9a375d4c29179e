import { Type } from "typebox";
import { revokeApiKey } from "../../actions/api-keys.ts";
import type { Dependencies } from "../../actions/dependencies.ts";
import type { App } from "../app.ts";
import { KeyParams } from "./key-schema.ts";
import { logChange, operatorProblems } from "./operation.ts";

export function revokeKeyRoute(app: App, deps: Dependencies): void {
  app.delete(
    "/keys/:key_id",
    {
      config: { spread: "one" },
      schema: {
        operationId: "revokeKey",
        tags: ["Keys"],
        summary: "Revoke a key permanently",
        description: "The key's next request is refused. Revoking it again changes nothing.",
        params: KeyParams,
        response: {
          204: Type.Null({ description: "The key is revoked." }),
          ...operatorProblems("not_found"),
        },
      },
    },
    async (request, reply) => {
      const keyId = await revokeApiKey(deps, request.params.key_id);
      logChange(request, "revoke_key", keyId);
      return reply.code(204).send(null);
    },
  );
}
