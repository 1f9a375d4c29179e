import assert from "node:assert/strict";
import { test } from "node:test";
import { parseTraceparent, traceIdOf } from "../../src/lib/traceparent.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const GOOD = `00-${TRACE}-00f067aa0ba902b7-01`;

test("traceparent is read as in W3C's specification, and a later version by its first four fields", () => {
  assert.equal(parseTraceparent(GOOD), GOOD);
  assert.equal(parseTraceparent(`cc${GOOD.slice(2)}-what-comes-later`), GOOD);
  assert.equal(traceIdOf(GOOD), TRACE);
});

test("any other text is not a traceparent", () => {
  for (const text of [
    undefined,
    [GOOD],
    "",
    `${GOOD}-more`,
    ` ${GOOD}`,
    `ff${GOOD.slice(2)}`,
    GOOD.toUpperCase(),
    GOOD.replace(TRACE, "0".repeat(32)),
    GOOD.replace("00f067aa0ba902b7", "0".repeat(16)),
    GOOD.slice(0, -1),
  ]) {
    assert.equal(parseTraceparent(text), null, String(text));
  }
});
