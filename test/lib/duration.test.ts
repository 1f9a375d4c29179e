import assert from "node:assert/strict";
import { test } from "node:test";
import { formatDuration, parseDuration } from "../../src/lib/duration.ts";

const DURATIONS = [
  ["0ms", 0],
  ["250ms", 250],
  ["10s", 10_000],
  ["90m", 5_400_000],
  ["6h", 21_600_000],
  ["30d", 2_592_000_000],
] as const;

for (const [text, ms] of DURATIONS) {
  test(`${text} is ${ms} ms, and formats back`, () => {
    assert.equal(parseDuration(text), ms);
    assert.equal(formatDuration(ms), text);
  });
}

test("a duration is formatted in the largest unit that divides it", () => {
  assert.equal(formatDuration(60_000), "1m");
  assert.equal(formatDuration(60_001), "60001ms");
  assert.equal(formatDuration(172_800_000), "2d");
});

test("text without both a number and a unit, a fraction, a sign or a space is not a duration", () => {
  for (const text of ["", "10", "s", "1.5s", "-1s", "+1s", "1 s", "1S", "1w", "1s1ms", "1e3ms"]) {
    assert.equal(parseDuration(text), null, text);
  }
});

test("a duration beyond the safe integers is refused", () => {
  assert.equal(parseDuration("9007199254740992ms"), null);
  assert.equal(parseDuration("999999999999999d"), null);
});
