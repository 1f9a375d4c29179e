import { Type } from "typebox";
import { find, findExactly, FOUND_KINDS, FOUND_MAX, TEXT_MAX } from "../../actions/find.ts";
import type { Dependencies } from "../../actions/dependencies.ts";
import type { App } from "../app.ts";
import { readByHand, Unreachable } from "../page-schema.ts";
import { NOT_BLANK } from "./organization-schema.ts";
import { operatorProblems, readFilters } from "./operation.ts";

const Query = Type.Object({
  q: Type.String({
    maxLength: TEXT_MAX,
    pattern: NOT_BLANK,
    description:
      "Any id (`evt_`, `dlv_`, `att_`, `wh_`, `org_`, `vck_`, `rdl_`), or the start of a slug, an event type or a host.",
  }),
});

const Item = Type.Object(
  {
    kind: Type.String({ enum: [...FOUND_KINDS] }),
    id: Type.String({
      description: "The id, or the name of a type or host. For an attempt, the id of its delivery.",
    }),
    label: Type.String({ description: "Text that describes it." }),
  },
  { title: "FoundItem", description: "Something that was found." },
);

const Items = Type.Object(
  {
    items: Type.Array(Item, { description: `At most ${FOUND_MAX}.` }),
    unreachable: Unreachable,
  },
  { title: "FoundItems", description: "The matches, exact ones first." },
);

export function findRoute(app: App, deps: Dependencies): void {
  app.get(
    "/find",
    {
      config: { spread: "merged" },
      schema: {
        operationId: "find",
        tags: ["Operation"],
        summary: "Find anything by its id or name",
        description:
          "Accepts anything that an operator pastes. Of a token, only the key's id is used.",
        querystring: Query,
        response: { 200: Items, ...operatorProblems("invalid_request") },
      },
      validatorCompiler: readByHand,
    },
    async ({ query }) => find(deps, readFilters(query, Query).q ?? ""),
  );
}

const Params = Type.Object({
  name: Type.String({ description: "Any id, or the slug of an organization." }),
});

export function findExactlyRoute(app: App, deps: Dependencies): void {
  app.get(
    "/find/:name",
    {
      config: { spread: "one" },
      schema: {
        operationId: "findExactly",
        tags: ["Operation"],
        summary: "Find one thing by its id or slug",
        description: "Also a closed organization. A gateway finds the cell of a thing with it.",
        params: Params,
        response: { 200: Item, ...operatorProblems("not_found") },
      },
    },
    async ({ params }) => findExactly(deps, params.name),
  );
}
