import { parseDuration } from "../domain/duration.ts";
import { readTimestamp } from "../domain/timestamp.ts";

export const SPAN_RULE = "1h, 7d, or a time such as 2026-01-31T00:00:00Z";

/**
 * Returns the moment that `1h` ago was. Returns any other text unchanged, because the server reads times and refuses the rest.
 */
export function momentOf(text: string | undefined, now: Date): string | undefined {
  const ms = text === undefined ? null : parseDuration(text);
  if (ms === null) return text;
  const moment = new Date(now.getTime() - ms);
  const iso = Number.isNaN(moment.getTime()) ? "" : moment.toISOString();
  return readTimestamp(iso) === null ? text : iso;
}
