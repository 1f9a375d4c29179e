import assert from "node:assert/strict";
import { test } from "node:test";
import { requireProgram } from "../support/required.ts";
import { checkFailover } from "./checked.ts";
import { EACH, SHORT, slowOf } from "./failover.ts";

test("each fault of a cluster under Patroni loses no accepted event, restarts no process and leaves requests refused for a bounded time", async (t) => {
  const failovers = await checkFailover(t, EACH);
  assert.deepEqual(slowOf(failovers ?? []), []);
});

test("no accepted event is lost and no process restarts behind the haproxy of deploy while a cluster fails over", async (t) => {
  if (!(await requireProgram(t, "haproxy", ["-v"]))) return;
  await checkFailover(t, { ...SHORT, isBehindHaproxy: true });
});
