import { Type } from "typebox";
import { pageOfChanges } from "../../actions/changes.ts";
import type { Dependencies } from "../../actions/dependencies.ts";
import { CHANGE_WAYS } from "../../postgres/changes.ts";
import type { App } from "../app.ts";
import { pageOf, PageQuery, readByHand, readPageRequest } from "../page-schema.ts";
import { Timestamp } from "../timestamp-schema.ts";
import { operatorProblems, readFilters } from "./operation.ts";

const Change = Type.Object(
  {
    id: Type.String({ description: "`chg_<uuid>`" }),
    at: Timestamp,
    operator: Type.String({ description: "The name of the operator's token." }),
    action: Type.String({ description: "Such as `revoke_key` or `read_payload`." }),
    subject: Type.String({ description: "The id of what it was done to." }),
    via: Type.String({ enum: [...CHANGE_WAYS] }),
    remote: Type.String({ description: "The address that the request came from." }),
    request_id: Type.String(),
  },
  { description: "What an operator did." },
);

const filter = (description: string) => Type.Optional(Type.String({ description }));

const ChangesQuery = Type.Object({
  operator: filter("Only by the token of this name."),
  action: filter("Only of this kind."),
  subject: filter("Only of what has this id."),
  since: Type.Optional(Type.String({ format: "date-time", description: "At or after." })),
  until: Type.Optional(Type.String({ format: "date-time", description: "Before." })),
  ...PageQuery.properties,
});

const FILTERS = ["operator", "action", "subject", "since", "until"] as const;

export function listChangesRoute(app: App, deps: Dependencies): void {
  app.get(
    "/changes",
    {
      schema: {
        operationId: "listChanges",
        summary: "List what operators did",
        description:
          "Every change by HTTP, console or command line, and every payload that was shown, newest first.",
        querystring: ChangesQuery,
        response: {
          200: pageOf(Change, "Changes, newest first."),
          ...operatorProblems("invalid_request"),
        },
      },
      validatorCompiler: readByHand,
    },
    async ({ query }) =>
      pageOfChanges(deps, { ...readFilters(query, FILTERS), ...readPageRequest(query) }),
  );
}
