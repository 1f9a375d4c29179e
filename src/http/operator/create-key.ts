import { createApiKey } from "../../actions/api-keys.ts";
import { viewIssuedKey } from "../../actions/views/api-key.ts";
import type { Dependencies } from "../../actions/dependencies.ts";
import type { App } from "../app.ts";
import { BODY_PROBLEMS } from "../problem-schema.ts";
import { IssuedKey, KeyRequest } from "./key-schema.ts";
import { logChange, operatorProblems } from "./operation.ts";

export function createKeyRoute(app: App, deps: Dependencies): void {
  app.post(
    "/keys",
    {
      config: { spread: "one" },
      schema: {
        operationId: "createKey",
        tags: ["Keys"],
        summary: "Create a key for an organization",
        description:
          "The response contains the token, which is shown only once. To rotate a key, create a second one, " +
          "then revoke the first when it is no longer used.",
        body: KeyRequest,
        response: {
          201: IssuedKey,
          ...operatorProblems("not_found", ...BODY_PROBLEMS, "reserved_scope", "unknown_scope"),
        },
      },
    },
    async (request, reply) => {
      const issued = await createApiKey(deps, request.body);
      logChange(request, "create_key", issued.keyId);
      return reply.code(201).send(viewIssuedKey(issued));
    },
  );
}
