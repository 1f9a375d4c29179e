import { Type } from "typebox";
import type { ErrorCode } from "../domain/errors.ts";
import { groupBy } from "../lib/group-by.ts";
import { PROBLEM_TYPE, PROBLEMS } from "./problem.ts";

export const ProblemSchema = Type.Object(
  {
    type: Type.String({ format: "uri", description: "Where this error is explained." }),
    title: Type.String(),
    status: Type.Integer(),
    code: Type.String({ description: "What programs go by. New ones may come." }),
    detail: Type.String({ description: "One sentence for people." }),
    request_id: Type.String({ description: "The same as in X-Request-Id." }),
    errors: Type.Optional(
      Type.Array(
        Type.Object({
          pointer: Type.String({
            format: "json-pointer",
            description: "Where in the body or the query.",
          }),
          detail: Type.String(),
        }),
        { description: "Every fault of the request, on status 422." },
      ),
    ),
  },
  { $id: "Problem", description: "An error, as RFC 9457 has it." },
);

const RETRIED = new Set<number>([429, 503]);
const RETRY_AFTER = {
  "Retry-After": { type: "integer", description: "Seconds until it is worth another try." },
};

/** The `response` entries of the errors of a route. */
export function problems(...codes: ErrorCode[]): object {
  const byStatus = groupBy(codes, (code) => PROBLEMS[code].status);
  const responses = [...byStatus].map(([status, group]) => [
    status,
    {
      description: group.map((code) => `${PROBLEMS[code].title} (\`${code}\`)`).join(", "),
      content: { [PROBLEM_TYPE]: { schema: problemWith(group) } },
      ...(RETRIED.has(status) ? { headers: RETRY_AFTER } : {}),
    },
  ]);
  return Object.fromEntries(responses) as object;
}

/** The errors of reading a JSON body. */
export const BODY_PROBLEMS = [
  "malformed_request",
  "payload_too_large",
  "unsupported_media_type",
  "invalid_request",
] as const satisfies ErrorCode[];

/** Names the known codes. Unlike an `enum`, it allows further ones. */
function problemWith(codes: ErrorCode[]): object {
  const code = { type: "string", "x-extensible-enum": codes };
  return { allOf: [{ $ref: "Problem#" }, { type: "object", properties: { code } }] };
}
