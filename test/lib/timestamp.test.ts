import assert from "node:assert/strict";
import { test } from "node:test";
import { readTimestamp } from "../../src/lib/duration.ts";

for (const [text, time] of [
  ["2026-01-31T23:59:59Z", "2026-01-31T23:59:59.000Z"],
  ["2026-01-01t00:00:00z", "2026-01-01T00:00:00.000Z"],
  ["2026-01-01 00:00Z", "2026-01-01T00:00:00.000Z"],
  ["2026-01-01T00:00:00+23:59", "2025-12-31T00:01:00.000Z"],
  ["2026-01-01T00:00:00-23:59", "2026-01-01T23:59:00.000Z"],
  ["2026-01-01T00:00:00.123456789Z", "2026-01-01T00:00:00.123Z"],
  ["2026-01-01T00:00:00.9999Z", "2026-01-01T00:00:00.999Z"],
  ["2024-02-29T00:00:00Z", "2024-02-29T00:00:00.000Z"],
  ["9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"],
] as const) {
  test(`${text} is ${time}`, () => assert.equal(readTimestamp(text)?.toISOString(), time));
}

for (const [what, text] of [
  ["the year 0", "0000-01-01T00:00:00Z"],
  ["a time that its offset moves before 1970", "1970-01-01T00:00:00+00:01"],
  ["a time that its offset moves past 9999", "9999-12-31T23:59:59-23:59"],
  ["a leap second", "2016-12-31T23:59:60Z"],
  ["an offset of a day", "2026-01-01T00:00:00+24:00"],
  ["an offset without a colon", "2026-01-01T00:00:00+0100"],
  ["no offset", "2026-01-01T00:00:00"],
  ["a day that the month lacks", "2026-02-29T00:00:00Z"],
  ["a comma before the fraction", "2026-01-01T00:00:00,5Z"],
  ["no digit in the fraction", "2026-01-01T00:00:00.Z"],
  ["a year of six digits", "+002026-01-01T00:00:00Z"],
  ["PostgreSQL's infinity", "infinity"],
] as const) {
  test(`${what} is no time: ${text}`, () => assert.equal(readTimestamp(text), null));
}
