import { pageOfApiKeys } from "../../actions/listings.ts";
import type { Dependencies } from "../../actions/dependencies.ts";
import type { App } from "../app.ts";
import { readByHand, readPageRequest } from "../page-schema.ts";
import { KeysPage, KeysQuery } from "./key-schema.ts";
import { operatorProblems, readFilters } from "./operation.ts";

export function listKeysRoute(app: App, deps: Dependencies): void {
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
