import assert from "node:assert/strict";
import { test } from "node:test";
import { Call } from "../../../src/postgres/driver/waiting.ts";

test("a call that gets no connection is refused no sooner than its limit", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const call = new Call(null, 4_999.5);
  t.mock.timers.tick(4_999);
  assert.equal(call.isOver, false);
  t.mock.timers.tick(1);
  await assert.rejects(call.connection, { message: "no connection was free for 5 s" });
});
