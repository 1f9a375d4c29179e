import { Type } from "typebox";
import { type LaterChanges, pageOfChanges } from "../../actions/changes.ts";
import { CHANGE_WAYS } from "../../postgres/changes.ts";
import type { Dependencies } from "../../actions/dependencies.ts";
import type { App } from "../app.ts";
import { pageOfCells, CellsPageQuery, readByHand, readPageRequest } from "../page-schema.ts";
import { Timestamp, sentTime } from "../timestamp-schema.ts";
import { operatorProblems, readFilters } from "./operation.ts";

const Change = Type.Object(
  {
    id: Type.String({ description: "`chg_<uuid>`" }),
    at: Timestamp,
    operator: Type.String({ description: "The name of the operator's token." }),
    action: Type.String({ description: "Such as `revoke_key` or `read_payload`." }),
    subject: Type.String({ description: "The id of the changed object." }),
    via: Type.String({ enum: [...CHANGE_WAYS] }),
    remote: Type.String({ description: "The address that the request came from." }),
    request_id: Type.String(),
  },
  { title: "Change", description: "A change by an operator." },
);

/** Without control characters. */
const filter = (description: string) =>
  Type.Optional(Type.String({ pattern: "^[^\\u0000-\\u001f\\u007f-\\u009f]*$", description }));

const ChangesQuery = Type.Object({
  operator: filter("Only by the token with this name."),
  action: filter("Only this action."),
  subject: filter("Only to the object with this id."),
  since: sentTime("At or after."),
  until: sentTime("Before."),
  ...CellsPageQuery.properties,
});

export function listChangesRoute(app: App, deps: Dependencies, later: LaterChanges): void {
  app.get(
    "/changes",
    {
      config: { spread: "descending" },
      schema: {
        operationId: "listChanges",
        tags: ["Operation"],
        summary: "List what operators did",
        description:
          "Every change over HTTP, in the console or on the command line, and every payload that was read, newest first.",
        querystring: ChangesQuery,
        response: {
          200: pageOfCells(Change, "ChangesPage", "Changes, newest first."),
          ...operatorProblems("invalid_request"),
        },
      },
      validatorCompiler: readByHand,
    },
    async ({ query }) => {
      const request = { ...readFilters(query, ChangesQuery), ...readPageRequest(query) };
      await later.settle();
      return pageOfChanges(deps, request);
    },
  );
}
