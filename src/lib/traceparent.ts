const FORM = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/**
 * Reads the header `traceparent` (W3C Trace Context). Returns it in the form of version 00, or null if it is malformed. A later
 * version may have more fields.
 */
export function parseTraceparent(text: unknown): string | null {
  if (typeof text !== "string") return null;
  const [, traceId = "", parentId = "", flags = "", more] = FORM.exec(text) ?? [];
  if (/^0*$/.test(traceId) || /^0*$/.test(parentId)) return null;
  if (text.startsWith("00") && more !== undefined) return null;
  return `00-${traceId}-${parentId}-${flags}`;
}

export function traceIdOf(traceparent: string): string {
  return traceparent.slice(3, 35);
}
