import { Type } from "typebox";
import { find, FOUND_KINDS, FOUND_MAX, TEXT_MAX } from "../../actions/find.ts";
import type { Dependencies } from "../../actions/dependencies.ts";
import type { App } from "../app.ts";
import { readByHand } from "../page-schema.ts";
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

const Items = Type.Object(
  {
    items: Type.Array(
      Type.Object(
        {
          kind: Type.String({ enum: [...FOUND_KINDS] }),
          id: Type.String({
            description:
              "The id, or the name of a type or host. For an attempt, the id of its delivery.",
          }),
          label: Type.String({ description: "Text that describes it." }),
        },
        { title: "FoundItem", description: "Something that was found." },
      ),
      { description: `At most ${FOUND_MAX}.` },
    ),
  },
  { title: "FoundItems", description: "The matches, exact ones first." },
);

export function findRoute(app: App, deps: Dependencies): void {
  app.get(
    "/find",
    {
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
