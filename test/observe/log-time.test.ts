import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { timeOfLine } from "../../src/observe/log.ts";

test("a line's time is exact to the millisecond, also in the next second and after a clock that went back", () => {
  const start = Date.parse("2026-12-31T23:59:59.000Z");
  mock.timers.enable({ apis: ["Date"] });
  for (const ms of [0, 7, 42, 999, 1_000, 1_001, 60_000, 5]) {
    mock.timers.setTime(start + ms);
    assert.equal(timeOfLine(), `,"time":"${new Date(start + ms).toISOString()}"`);
  }
  mock.timers.reset();
});
