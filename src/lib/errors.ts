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
  | "subscription_held"
  | "not_redeliverable"
  | "not_waiting"
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

/** A violated keyword of a JSON Schema, as Ajv reports it. */
interface Violation {
  keyword: string;
  /** The JSON pointer of the value. */
  instancePath: string;
  params: Record<string, unknown>;
}

/** Further values would hide the rest of the sentence. */
const LISTED_MAX = 100;

/** Returns at most `max` different faults. Leaves out that no alternative fits if the alternatives have faults of their own. */
export function toFaults(violations: readonly Violation[], max: number): Fault[] {
  const telling = violations.filter(({ keyword }) => !OF_ALTERNATIVES.includes(keyword));
  const faults = new Map<string, Fault>();
  for (const violation of violations) {
    if (faults.size === max) break;
    const isTold =
      OF_ALTERNATIVES.includes(violation.keyword) &&
      telling.some(({ instancePath }) => instancePath.startsWith(violation.instancePath));
    const fault = { pointer: pointerOf(violation), detail: ruleOf(violation) };
    if (!isTold) faults.set(`${fault.pointer} ${fault.detail}`, fault);
  }
  return [...faults.values()];
}

const OF_ALTERNATIVES = ["anyOf", "oneOf", "if"];

/** Returns the JSON pointer of the fault: of the member if it is missing or not allowed. */
export function pointerOf({ instancePath, keyword, params }: Violation): string {
  const member = params[MEMBER_PARAMS[keyword] ?? ""];
  return typeof member === "string" ? `${instancePath}/${escapePointer(member)}` : instancePath;
}

const MEMBER_PARAMS: Record<string, string> = {
  required: "missingProperty",
  dependentRequired: "missingProperty",
  additionalProperties: "additionalProperty",
  unevaluatedProperties: "unevaluatedProperty",
};

export function escapePointer(member: string): string {
  return member.replaceAll("~", "~0").replaceAll("/", "~1");
}

/** Returns the violated rule as the end of a sentence. It quotes only the schema. */
export function ruleOf({ keyword, params }: Violation): string {
  const limit = Number(params["limit"]);
  switch (keyword) {
    case "required":
    case "dependentRequired":
      return "is required";
    case "additionalProperties":
    case "unevaluatedProperties":
      return "is not a member of the schema";
    case "type":
      return `must be ${[params["type"]].flat().map(withArticle).join(" or ")}`;
    case "enum":
      return `must be one of ${listed([params["allowedValues"]].flat())}`;
    case "anyOf":
      return "must match one of the alternatives";
    case "oneOf":
      return "must match exactly one of the alternatives";
    case "const":
      return `must be ${text(params["allowedValue"])}`;
    case "format":
      return `must have the format ${text(params["format"])}`;
    case "pattern":
      return `must match the pattern ${text(params["pattern"])}`;
    case "uniqueItems":
      return "must not contain an item twice";
    case "exclusiveMinimum":
      return `must be more than ${limit}`;
    case "exclusiveMaximum":
      return `must be less than ${limit}`;
    case "multipleOf":
      return `must be a multiple of ${text(params["multipleOf"])}`;
    case "minimum":
    case "maximum":
    case "minItems":
    case "maxItems":
    case "minLength":
    case "maxLength":
    case "minProperties":
    case "maxProperties":
      return sizeRule(keyword, limit);
    default:
      return `does not satisfy \`${keyword}\` of the schema`;
  }
}

function sizeRule(keyword: string, limit: number): string {
  const bound = keyword.startsWith("min") ? "at least" : "at most";
  const unit = UNITS[keyword.slice(3)];
  if (unit === undefined) return `must be ${bound} ${limit}`;
  return `must have ${bound} ${limit} ${limit === 1 ? unit : `${unit}s`}`;
}

const UNITS: Record<string, string> = {
  Items: "item",
  Length: "character",
  Properties: "member",
};

/** Lists values for a sentence. Cuts a long list off and says how many more there are. */
export function listed(values: readonly unknown[]): string {
  const shown = values.slice(0, LISTED_MAX).map(text).join(", ");
  const rest = values.length - LISTED_MAX;
  return rest > 0 ? `${shown} and ${rest} more` : shown;
}

function text(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function withArticle(type: unknown): string {
  const name = String(type);
  if (name === "null") return name;
  return /^[aeio]/.test(name) ? `an ${name}` : `a ${name}`;
}
