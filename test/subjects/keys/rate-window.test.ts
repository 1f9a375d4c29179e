import assert from "node:assert/strict";
import { test } from "node:test";
import { allowanceAt } from "../../../src/subjects/keys/rules.ts";

const opened = new Date("2026-01-01T00:00:00.000Z");
const later = (ms: number) => new Date(opened.getTime() + ms);

test("requests pass up to the limit, and the next does not", () => {
  assert.equal(allowanceAt(600, 600, opened, later(10)).passed, true);
  assert.equal(allowanceAt(601, 600, opened, later(10)).passed, false);
});

test("the rest of the window is rounded up to whole seconds, at least 1", () => {
  assert.equal(allowanceAt(1, 600, opened, opened).resetSeconds, 60);
  assert.equal(allowanceAt(1, 600, opened, later(59_001)).resetSeconds, 1);
  assert.equal(allowanceAt(1, 600, opened, later(58_999)).resetSeconds, 2);
  assert.equal(allowanceAt(1, 600, opened, later(60_000)).resetSeconds, 1);
});
