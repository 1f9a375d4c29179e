import type { Fault } from "./errors.ts";

/** In code points. */
export const LABEL_MAX = 200;

/**
 * Control characters could harm terminals that show a label. Bidirectional ones reorder the rest of a line. PostgreSQL cannot
 * store half a surrogate pair.
 */
export const LABEL = /^[^\p{Cc}\p{Cs}\p{Bidi_Control}]+$/u;

/** `LABEL` in words. */
export const LABEL_RULE = `1 to ${LABEL_MAX} characters, none of them a control or bidirectional character`;

export function labelFaults(label: string): Fault[] {
  const isValid = LABEL.test(label) && Array.from(label).length <= LABEL_MAX;
  return isValid ? [] : [{ pointer: "/label", detail: `must be ${LABEL_RULE}` }];
}
