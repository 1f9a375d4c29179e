export type ErrorCode =
  | "malformed_request"
  | "unauthenticated"
  | "insufficient_scope"
  | "insufficient_role"
  | "cross_site"
  | "secret_mismatch"
  | "not_found"
  | "method_not_allowed"
  | "request_timeout"
  | "headers_too_large"
  | "subscription_inactive"
  | "subscription_limit"
  | "slug_taken"
  | "not_redeliverable"
  | "redelivery_finished"
  | "redelivery_limit"
  | "request_in_progress"
  | "payload_too_large"
  | "unsupported_media_type"
  | "misdirected_request"
  | "invalid_request"
  | "idempotency_key_reused"
  | "url_rejected"
  | "reserved_scope"
  | "unknown_scope"
  | "rate_limited"
  | "unavailable"
  | "internal";

/** One fault of a request: a JSON pointer, and the rule that the value breaks. Never repeats the offending value. */
export interface Fault {
  pointer: string;
  detail: string;
}

/**
 * An error that is sent to the caller. `internal` and `unavailable` are faults of the service; the
 * other codes are faults of the caller. Every other thrown value is logged in full and sent as
 * `internal`.
 */
export class PartnerError extends Error {
  readonly code: ErrorCode;
  readonly faults: Fault[];
  /** Seconds until the same request would pass, if known. */
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

const TRY_AGAIN = "The service is temporarily unavailable. Try again.";

/** The database is unreachable or overloaded. The same request may pass in a moment. */
export class Busy extends PartnerError {
  constructor(message = TRY_AGAIN, retryAfter = 5) {
    super("unavailable", message, { retryAfter });
  }
}

/** Other requests, or the caller's own, have all of what this one needs. The database is well. */
export class Crowded extends PartnerError {
  constructor(message = TRY_AGAIN, retryAfter = 5) {
    super("unavailable", message, { retryAfter });
  }
}

export function noSuch(thing: string): PartnerError {
  return new PartnerError("not_found", `There is no such ${thing}.`);
}

export function unauthenticated(): PartnerError {
  return new PartnerError(
    "unauthenticated",
    "The API key is missing, malformed, unknown or revoked.",
  );
}

export function invalidRequest(faults: Fault[]): PartnerError {
  return new PartnerError("invalid_request", "The request does not have the expected shape.", {
    faults,
  });
}

/** The fault of a number that is not an integer from 1 to `max`. */
export function rangeFaults(pointer: string, value: number, max: number): Fault[] {
  const isValid = Number.isInteger(value) && value >= 1 && value <= max;
  return isValid ? [] : [{ pointer, detail: `must be an integer from 1 to ${max}` }];
}

/** Throws `invalid_request` with all the faults, if there are any. */
export function requireNoFaults(faults: Fault[]): void {
  if (faults.length > 0) throw invalidRequest(faults);
}
