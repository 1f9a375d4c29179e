import type { ErrorCode } from "../../domain/errors.ts";
import { problems } from "../problem-schema.ts";

/** The errors of a partner's operation: its own, and those that every one of them may answer. */
export function partnerProblems(...codes: ErrorCode[]): object {
  return problems(
    "unauthenticated",
    "insufficient_scope",
    ...codes,
    "rate_limited",
    "internal",
    "unavailable",
  );
}

/** What reading a JSON body adds to them. */
export const BODY_PROBLEMS = [
  "malformed_request",
  "payload_too_large",
  "unsupported_media_type",
  "invalid_request",
] as const satisfies ErrorCode[];
