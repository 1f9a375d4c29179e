import assert from "node:assert/strict";
import { test } from "node:test";
import { checkFailover } from "./checked.ts";
import { EACH, slowOf } from "./failover.ts";

test("each fault of a cluster under Patroni loses no accepted event, restarts no process and leaves requests refused for a bounded time", async (t) => {
  const failovers = await checkFailover(t, EACH);
  assert.deepEqual(slowOf(failovers ?? []), []);
});
