// With an offset, so that a moment means the same wherever it is typed. With a space where we show one.
const TIMESTAMP = /^(\d{4})-(\d\d)-(\d\d)[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/i;

/** What can be read, in words. */
export const TIMESTAMP_RULE = "a time from 1970 on, such as 2026-01-31T23:59:59Z";

/** An offset can lead past the last year of four digits, and the database reads no other. */
const END_OF_TIME = new Date("9999-12-31T23:59:59.999Z");

/** Null if it cannot be read. */
export function readTimestamp(text: string): Date | null {
  const [, year, month, day] = TIMESTAMP.exec(text) ?? [];
  // `Date` takes the 30th of February for the 2nd of March.
  const isDay = Number(day) <= new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
  const time = new Date(isDay ? text.replace(" ", "T") : NaN);
  return time.getTime() >= 0 && time <= END_OF_TIME ? time : null;
}
