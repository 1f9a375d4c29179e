const UNITS_MS = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000, ms: 1 };

type Unit = keyof typeof UNITS_MS;

/** Converts `30d` or `250ms` to milliseconds. Returns null for anything but a whole number and a unit. */
export function parseDuration(text: string): number | null {
  const match = /^([0-9]{1,15})(ms|s|m|h|d)$/.exec(text);
  if (match === null) return null;

  const ms = Number(match[1]) * UNITS_MS[match[2] as Unit];
  return Number.isSafeInteger(ms) ? ms : null;
}

/** The inverse of `parseDuration`. Uses the largest unit that divides `ms`: 5400 s become `90m`. */
export function formatDuration(ms: number): string {
  for (const [unit, unitMs] of Object.entries(UNITS_MS)) {
    if (ms >= unitMs && ms % unitMs === 0) return `${ms / unitMs}${unit}`;
  }
  return `${ms}ms`;
}

// The offset is required, so that a time means the same everywhere. A space is accepted, because we show times with one.
const TIMESTAMP = /^(\d{4})-(\d\d)-(\d\d)[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/i;

/** `TIMESTAMP` in words. */
export const TIMESTAMP_RULE = "a time from 1970 on, such as 2026-01-31T23:59:59Z";

/** An offset can move a time past the year 9999, which the database does not accept. */
const END_OF_TIME = new Date("9999-12-31T23:59:59.999Z");

/** Returns null if the text is not such a time. What is less than a millisecond is cut off. */
export function readTimestamp(text: string): Date | null {
  const [, year, month, day] = TIMESTAMP.exec(text) ?? [];
  // `Date` reads February 30 as March 2.
  const isDay = Number(day) <= new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
  const time = new Date(isDay ? text.replace(" ", "T") : NaN);
  return time.getTime() >= 0 && time <= END_OF_TIME ? time : null;
}
