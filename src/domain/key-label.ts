import type { Fault } from "./errors.ts";

/** In code points. */
export const LABEL_MAX = 200;

/**
 * Control characters could harm terminals that show a label. Bidirectional ones reorder the rest of a line. PostgreSQL cannot
 * store half a surrogate pair.
 */
export const LABEL =
  // eslint-disable-next-line no-control-regex -- It refuses control characters.
  /^[^\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]+$/u;

/**
 * The same for the OpenAPI document. Many tools read it without the flag `u`, where a character beyond U+FFFF is two halves, and
 * others cannot read the halves.
 */
export const DOCUMENTED_LABEL = LABEL.source.replace("\\ud800-\\udfff", "");

/** `LABEL` in words. */
export const LABEL_RULE = `1 to ${LABEL_MAX} characters, none of them a control or bidirectional character`;

export function labelFaults(label: string): Fault[] {
  const isValid = LABEL.test(label) && Array.from(label).length <= LABEL_MAX;
  return isValid ? [] : [{ pointer: "/label", detail: `must be ${LABEL_RULE}` }];
}
