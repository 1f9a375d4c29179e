import type { ErrorCode } from "../domain/errors.ts";
import { DOCS_BASE_URL } from "./docs/manifest.ts";
import { type Problem, PROBLEMS } from "./problem.ts";

const PREFIX = "#/components/examples/";

/** A reference to the example of a code. */
export function exampleOfProblem(code: ErrorCode): { $ref: string } {
  return { $ref: PREFIX + code };
}

/** Returns the examples that these paths refer to, by their codes. */
export function problemExamples(paths: object): object {
  const text = JSON.stringify(paths);
  const codes = (Object.keys(PROBLEMS) as ErrorCode[]).filter((code) =>
    text.includes(`"${PREFIX}${code}"`),
  );
  return Object.fromEntries(codes.map((code) => [code, { value: example(code) }]));
}

function example(code: ErrorCode): Problem {
  const { status, title } = PROBLEMS[code];
  return {
    type: `${DOCS_BASE_URL}/docs/errors#${code}`,
    title,
    status,
    code,
    detail: "One sentence that helps.",
    request_id: "3c3f6a2e-5b0e-4a53-9d0d-2f6a3c1b7e55",
    ...(code === "invalid_request"
      ? { errors: [{ pointer: "/url", detail: "must be a string" }] }
      : {}),
  };
}
