import assert from "node:assert/strict";
import { test } from "node:test";
import { burstOf, ceilingFaults, refillMs } from "../../../src/subjects/subscriptions/rules.ts";
import { ERA } from "../../support/clock.ts";

test("a full bucket holds the tokens of a tenth of a second, and at least one", () => {
  assert.deepEqual([1, 9, 10, 11, 100, 10_000].map(burstOf), [1, 1, 1, 2, 10, 1_000]);
});

test("an empty bucket is half full after half of its fill time", () => {
  const full = { maxPerSecond: 100, burst: 10, fullAt: ERA, tokens: 10 };
  assert.equal(refillMs(full, ERA), 51);
  assert.equal(refillMs({ ...full, fullAt: new Date(ERA.getTime() + 100), tokens: 0 }, ERA), 51);
  assert.equal(refillMs({ ...full, maxPerSecond: 1, burst: 1, tokens: 1 }, ERA), 1_001);
});

test("a ceiling is a whole number from 1 to 10,000, or none", () => {
  for (const good of [null, 1, 10_000]) assert.deepEqual(ceilingFaults(good), []);
  for (const bad of [0, -1, 1.5, NaN, 10_001]) assert.equal(ceilingFaults(bad).length, 1);
});
