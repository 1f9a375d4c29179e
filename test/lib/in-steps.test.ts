import assert from "node:assert/strict";
import { test } from "node:test";
import { inSteps } from "../../src/lib/objects.ts";

test("other work runs between two steps", async () => {
  const order: string[] = [];
  function* work(): Generator<undefined, string> {
    order.push("first step");
    yield;
    order.push("second step");
    return "result";
  }
  setImmediate(() => order.push("another"));
  assert.equal(await inSteps(work()), "result");
  assert.deepEqual(order, ["first step", "another", "second step"]);
});

test("an error of a step fails all steps", async () => {
  // eslint-disable-next-line require-yield -- It fails in its first step.
  function* work(): Generator<undefined, never> {
    throw new Error("broken");
  }
  await assert.rejects(inSteps(work()), { message: "broken" });
});
