import type { FastifySchemaValidationError } from "fastify";
import { Type } from "typebox";
import { type ErrorCode, type Fault, type PartnerError, pointerOf, ruleOf } from "../lib/errors.ts";
import { groupBy } from "../lib/objects.ts";
import { DOCS_BASE_URL } from "./docs/site.ts";

/** More faults would help no one, and a body can have thousands. */
const FAULTS_MAX = 20;

/** A fault as the validator reports it in verbose mode, with the violated schema. */
export type Violation = FastifySchemaValidationError & { parentSchema?: Described };

interface Described {
  description?: string;
  properties?: Record<string, Described>;
}

/** Returns the faults in our words, ordered by place. Quotes nothing of the request. */
export function faultsOf(violations: readonly Violation[]): Fault[] {
  const listed = new Set(
    violations.filter((one) => one.keyword === "enum").map((one) => one.instancePath),
  );
  return violations
    .filter((one) => one.keyword !== "type" || !listed.has(one.instancePath)) // An enum fault says more than a type fault.
    .slice(0, FAULTS_MAX)
    .map((violation) => toFault(violation))
    .sort((a, b) => a.pointer.localeCompare(b.pointer, "en", { numeric: true }));
}

function toFault(violation: Violation): Fault {
  const { keyword, params, parentSchema } = violation;
  const missing = keyword === "required" ? String(params["missingProperty"]) : null;
  const wanted = missing === null ? parentSchema : parentSchema?.properties?.[missing];
  const hint = wanted?.description === undefined ? "" : `. ${wanted.description}`;
  return { pointer: pointerOf(violation), detail: ruleOf(violation) + hint };
}

// `satisfies` makes the build fail until every code has a status.
export const PROBLEMS = {
  malformed_request: { status: 400, title: "Malformed request" },
  unauthenticated: { status: 401, title: "Unauthenticated" },
  insufficient_scope: { status: 403, title: "Insufficient scope" },
  insufficient_role: { status: 403, title: "Insufficient role" },
  cross_site: { status: 403, title: "Cross-site request" },
  secret_mismatch: { status: 403, title: "Secret does not match" },
  not_found: { status: 404, title: "Not found" },
  method_not_allowed: { status: 405, title: "Method not allowed" },
  request_timeout: { status: 408, title: "Request timeout" },
  subscription_inactive: { status: 409, title: "Subscription is not active" },
  subscription_limit: { status: 409, title: "Too many subscriptions" },
  slug_taken: { status: 409, title: "Slug is taken" },
  subscription_held: { status: 409, title: "Subscription is held" },
  not_redeliverable: { status: 409, title: "Delivery cannot be repeated" },
  not_waiting: { status: 409, title: "Delivery does not wait" },
  redelivery_finished: { status: 409, title: "Redelivery is finished" },
  redelivery_limit: { status: 409, title: "Too many redeliveries" },
  request_in_progress: { status: 409, title: "Request in progress" },
  payload_too_large: { status: 413, title: "Payload too large" },
  unsupported_media_type: { status: 415, title: "Unsupported media type" },
  misdirected_request: { status: 421, title: "Misdirected request" },
  invalid_request: { status: 422, title: "Invalid request" },
  idempotency_key_reused: { status: 422, title: "Idempotency key reused" },
  url_rejected: { status: 422, title: "URL rejected" },
  reserved_scope: { status: 422, title: "Reserved scope" },
  unknown_scope: { status: 422, title: "Unknown scope" },
  rate_limited: { status: 429, title: "Too many requests" },
  headers_too_large: { status: 431, title: "Request headers too large" },
  internal: { status: 500, title: "Internal error" },
  unavailable: { status: 503, title: "Service unavailable" },
} as const satisfies Record<ErrorCode, { status: number; title: string }>;

const PROBLEM_TYPE = "application/problem+json";

/** The body of every error (RFC 9457). */
export interface Problem {
  type: string;
  title: string;
  status: number;
  code: ErrorCode;
  detail: string;
  request_id: string;
  errors?: Fault[];
}

export function toProblem(error: PartnerError, baseUrl: string, requestId: string): Problem {
  const { status, title } = PROBLEMS[error.code];
  return {
    type: `${baseUrl}/docs/errors#${error.code}`,
    title,
    status,
    code: error.code,
    detail: error.message,
    request_id: requestId,
    ...(error.faults.length > 0 ? { errors: error.faults } : {}),
  };
}

/** The headers of an error. */
export function problemHeaders({ code, retryAfter }: PartnerError): Record<string, string> {
  return {
    "content-type": PROBLEM_TYPE,
    ...(code === "unauthenticated" ? { "www-authenticate": "Bearer" } : {}),
    ...(retryAfter === undefined ? {} : { "retry-after": String(retryAfter) }),
  };
}

const PREFIX = "#/components/examples/";

/** A reference to the example of a code. */
function exampleOfProblem(code: ErrorCode): { $ref: string } {
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
