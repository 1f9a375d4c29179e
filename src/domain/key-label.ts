import type { Fault } from "./errors.ts";

/** The most code points that a key's label has. */
export const LABEL_MAX = 200;

/** A label is shown on terminals, where control characters do harm. Half a surrogate pair cannot be stored. */
export const LABEL = /^[^\p{Cc}\p{Cs}]*$/u;

/** Both in words. */
export const LABEL_RULE = `at most ${LABEL_MAX} characters, none of them a control character`;

export function labelFaults(label: string): Fault[] {
  const isValid = LABEL.test(label) && Array.from(label).length <= LABEL_MAX;
  return isValid ? [] : [{ pointer: "/label", detail: `must be ${LABEL_RULE}` }];
}
