import type { Fault } from "./errors.ts";

/** In code points. */
export const LABEL_MAX = 200;

/**
 * Control characters could harm the terminals that show a label. PostgreSQL cannot store half a
 * surrogate pair.
 */
export const LABEL = /^[^\p{Cc}\p{Cs}]*$/u;

/** Both rules in words. */
export const LABEL_RULE = `at most ${LABEL_MAX} characters, none of them a control character`;

export function labelFaults(label: string): Fault[] {
  const isValid = LABEL.test(label) && Array.from(label).length <= LABEL_MAX;
  return isValid ? [] : [{ pointer: "/label", detail: `must be ${LABEL_RULE}` }];
}
