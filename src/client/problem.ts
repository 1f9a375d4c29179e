import { codes, type components } from "./schema.ts";

/** The six calls, named as in the OpenAPI document. */
export type Operation = keyof typeof codes;

/** Codes that any request may get. */
const COMMON_CODES = [
  "malformed_request",
  "not_found",
  "method_not_allowed",
  "request_timeout",
  "headers_too_large",
] as const;

type ProblemBody = components["schemas"]["Problem"];

interface Explained extends Omit<ProblemBody, "code" | "errors"> {
  /** The faults of the request, up to 20, if the service lists them. */
  errors: NonNullable<ProblemBody["errors"]>;
  /** Seconds until another try makes sense, or null if unknown. */
  retryAfter: number | null;
}

type Known<Code extends string> = Code extends Code ? Explained & { code: Code } : never;

/**
 * Why a call was refused: a union by `code`. `unrecognized` stands for codes that are newer than
 * this client and for responses of a proxy.
 */
export type Problem<Of extends Operation = Operation> = Known<
  (typeof codes)[Of][number] | (typeof COMMON_CODES)[number] | "unrecognized"
>;

/** Reads the problem from any response. */
export function readProblem<Of extends Operation>(
  operation: Of,
  response: Response,
  body: unknown,
): Problem<Of> {
  const said: Partial<ProblemBody> = isObject(body) ? body : {};
  const known = [...codes[operation], ...COMMON_CODES];
  const code = known.find((one) => one === said.code) ?? "unrecognized";
  const missing = response.ok ? "its data" : "a problem document";
  return {
    type: said.type ?? "about:blank",
    title: said.title ?? response.statusText,
    status: response.status,
    code,
    detail: said.detail ?? `status ${response.status} without ${missing}`,
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
