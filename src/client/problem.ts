import { codes, type components } from "./schema.ts";

/** The six calls, by the names that the OpenAPI document gives them. */
export type Operation = keyof typeof codes;

/** Any request may be answered so, whichever call it was meant to be. */
const COMMON_CODES = [
  "malformed_request",
  "not_found",
  "method_not_allowed",
  "request_timeout",
  "headers_too_large",
] as const;

type ProblemBody = components["schemas"]["Problem"];

interface Explained extends Omit<ProblemBody, "code" | "errors"> {
  /** The faults of the request, up to 20 of them, where the service names them. */
  errors: NonNullable<ProblemBody["errors"]>;
  /** Seconds until it is worth another try; null when the service does not say. */
  retryAfter: number | null;
}

type Known<Code extends string> = Code extends Code ? Explained & { code: Code } : never;

/**
 * Why a call was refused: a union by `code`. `unrecognized` is what this release of the client does not know: a code
 * that came later, or the answer of a proxy in between.
 */
export type Problem<Of extends Operation = Operation> = Known<
  (typeof codes)[Of][number] | (typeof COMMON_CODES)[number] | "unrecognized"
>;

/** What the answer to `operation` says of itself, whatever it is. */
export function readProblem<Of extends Operation>(
  operation: Of,
  response: Response,
  body: unknown,
): Problem<Of> {
  const said: Partial<ProblemBody> = isObject(body) ? body : {};
  const known = [...codes[operation], ...COMMON_CODES];
  const code = known.find((one) => one === said.code) ?? "unrecognized";
  const missing = response.ok ? "its data" : "an explanation";
  return {
    type: said.type ?? "about:blank",
    title: said.title ?? response.statusText,
    status: response.status,
    code,
    detail: said.detail ?? `the answer was ${response.status} without ${missing}`,
    request_id: said.request_id ?? response.headers.get("x-request-id") ?? "",
    errors: said.errors ?? [],
    retryAfter: readSeconds(response.headers.get("retry-after")),
  } as Problem<Of>;
}

function readSeconds(header: string | null): number | null {
  return header !== null && /^[0-9]{1,9}$/.test(header) ? Number(header) : null;
}

export function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
