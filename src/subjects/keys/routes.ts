import { Type } from "typebox";
import type { App } from "../../http/app.ts";
import { logChange, operatorProblems, readFilters } from "../../http/operator.ts";
import { BODY_PROBLEMS } from "../../http/problem.ts";
import { readByHand, readPageRequest } from "../../http/schema.ts";
import type { Dependencies } from "../dependencies.ts";
import { pageOfApiKeys } from "../listings.ts";
import { IssuedKey, KeyParams, KeyRequest, KeysPage, KeysQuery } from "./schema.ts";
import { createApiKey, revokeApiKey, viewIssuedKey } from "./work.ts";

export function keyRoutes(app: App, deps: Dependencies): void {
  createKeyRoute(app, deps);
  listKeysRoute(app, deps);
  revokeKeyRoute(app, deps);
}

function createKeyRoute(app: App, deps: Dependencies): void {
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

function listKeysRoute(app: App, deps: Dependencies): void {
  app.get(
    "/keys",
    {
      config: { spread: "descending" },
      schema: {
        operationId: "listKeys",
        tags: ["Keys"],
        summary: "List keys",
        description: "Newest first, revoked ones on request. `last_used_at` may lag a little.",
        querystring: KeysQuery,
        response: { 200: KeysPage, ...operatorProblems("not_found", "invalid_request") },
      },
      validatorCompiler: readByHand,
    },
    async ({ query }) => {
      const request = { ...readFilters(query, KeysQuery), ...readPageRequest(query) };
      return pageOfApiKeys(deps, request);
    },
  );
}

function revokeKeyRoute(app: App, deps: Dependencies): void {
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
