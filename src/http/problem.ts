import type { ErrorCode, Fault, PartnerError } from "../domain/errors.ts";

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
  not_redeliverable: { status: 409, title: "Delivery cannot be repeated" },
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

export const PROBLEM_TYPE = "application/problem+json";

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
