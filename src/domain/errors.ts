export type ErrorCode =
  | "malformed_request"
  | "unauthenticated"
  | "insufficient_scope"
  | "secret_mismatch"
  | "not_found"
  | "method_not_allowed"
  | "request_timeout"
  | "headers_too_large"
  | "subscription_inactive"
  | "subscription_limit"
  | "slug_taken"
  | "not_redeliverable"
  | "payload_too_large"
  | "unsupported_media_type"
  | "invalid_request"
  | "url_rejected"
  | "reserved_scope"
  | "unknown_scope"
  | "rate_limited"
  | "unavailable"
  | "internal";

/** One fault of a request: where it lies (a JSON pointer) and what is wrong, never the offending value. */
export interface Fault {
  pointer: string;
  detail: string;
}

/**
 * What a caller is told of a request that failed. `internal` and `unavailable` are our doing, every other code is the
 * caller's. Whatever else is thrown is logged in full and reaches the caller as `internal`.
 */
export class PartnerError extends Error {
  readonly code: ErrorCode;
  readonly faults: Fault[];
  /** Seconds until the same request would pass, where that is known. */
  readonly retryAfter: number | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    { faults = [], retryAfter }: { faults?: Fault[]; retryAfter?: number } = {},
  ) {
    super(message);
    this.name = "PartnerError";
    this.code = code;
    this.faults = faults;
    this.retryAfter = retryAfter;
  }
}

/** The database is away or overwhelmed: the same request may pass in a moment. */
export class Busy extends PartnerError {
  constructor(message = "The service cannot answer just now: try again.", retryAfter = 5) {
    super("unavailable", message, { retryAfter });
  }
}

export function invalidRequest(faults: Fault[]): PartnerError {
  return new PartnerError("invalid_request", "The request does not have the expected shape.", {
    faults,
  });
}
