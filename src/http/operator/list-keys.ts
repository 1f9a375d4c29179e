import { pageOfApiKeys } from "../../actions/listings.ts";
import { pageEverywhere } from "../../actions/everywhere.ts";
import type { Shards } from "../../actions/shards.ts";
import type { App } from "../app.ts";
import { readByHand, readPageRequest } from "../page-schema.ts";
import { KeysPage, KeysQuery } from "./key-schema.ts";
import { operatorProblems, readFilters } from "./operation.ts";

export function listKeysRoute(app: App, shards: Shards): void {
  app.get(
    "/keys",
    {
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
      return pageEverywhere(shards, request, pageOfApiKeys);
    },
  );
}
