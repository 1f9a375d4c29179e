import type { ErrorCode } from "../../domain/errors.ts";
import { problems } from "../problem-schema.ts";

/** The errors of a partner's operation, with those that all operations share. */
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
