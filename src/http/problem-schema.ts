import { Type } from "typebox";
import type { ErrorCode } from "../domain/errors.ts";
import { groupBy } from "../lib/group-by.ts";
import { PROBLEM_TYPE, PROBLEMS } from "./problem.ts";
import { exampleOfProblem } from "./problem-examples.ts";

export const ProblemSchema = Type.Object(
  {
    type: Type.String({ format: "uri", description: "A link to the explanation of this error." }),
    title: Type.String({ description: "The name of the error, for people." }),
    status: Type.Integer({ description: "The status of the response." }),
    code: Type.String({ description: "The error code for programs. New codes may be added." }),
    detail: Type.String({ description: "An explanation for people." }),
    request_id: Type.String({ description: "The value of X-Request-Id." }),
    errors: Type.Optional(
      Type.Array(
        Type.Object(
          {
            pointer: Type.String({
              format: "json-pointer",
              description: "The place of the fault in the body or the query.",
            }),
            detail: Type.String({ description: "What is wrong there." }),
          },
          { title: "Fault", description: "One fault of a request." },
        ),
        { description: "All faults of the request, with status 422." },
      ),
    ),
  },
  { $id: "Problem", description: "An error in the format of RFC 9457." },
);

const RETRIED = new Set<number>([429, 503]);
const RETRY_AFTER = {
  "Retry-After": { type: "integer", description: "Seconds to wait before the next request." },
};

/** The `response` entries of the errors of a route. */
export function problems(...codes: ErrorCode[]): object {
  const byStatus = groupBy(codes, (code) => PROBLEMS[code].status);
  const responses = [...byStatus].map(([status, group]) => [
    status,
    {
      description: group.map((code) => `${PROBLEMS[code].title} (\`${code}\`)`).join(", "),
      content: { [PROBLEM_TYPE]: { schema: { $ref: "Problem#" }, examples: examplesOf(group) } },
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

/** One example for each code: a client may learn the known codes from their names. */
function examplesOf(codes: ErrorCode[]): object {
  return Object.fromEntries(codes.map((code) => [code, exampleOfProblem(code)]));
}
