import type { Fault } from "./errors.ts";

/** In code points. */
export const LABEL_MAX = 200;

/**
 * Control characters could harm terminals that show a label. Bidirectional ones reorder the rest of a line. PostgreSQL cannot
 * store half a surrogate pair. The OpenAPI document has this pattern. Many tools read it without the flag `u`, so it names the
 * characters by their numbers, and a whole pair by its halves.
 */
export const LABEL =
  // eslint-disable-next-line no-control-regex -- It refuses control characters.
  /^(?:[^\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]|[\ud800-\udbff][\udc00-\udfff])+$/u;

/** `LABEL` in words. */
export const LABEL_RULE = `1 to ${LABEL_MAX} characters, none of them a control or bidirectional character`;

export function labelFaults(label: string): Fault[] {
  const isValid = LABEL.test(label) && Array.from(label).length <= LABEL_MAX;
  return isValid ? [] : [{ pointer: "/label", detail: `must be ${LABEL_RULE}` }];
}
