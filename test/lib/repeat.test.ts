import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { repeat } from "../../src/lib/parts.ts";

const anImmediate = () => new Promise(setImmediate);

/** Repeats work every second. The test ends its calls. */
function repeated(t: TestContext) {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const calls: { resolve: () => void; reject: (error: unknown) => void }[] = [];
  const errors: unknown[] = [];
  const work = () =>
    new Promise<void>((resolve, reject) => {
      calls.push({ resolve, reject });
    });
  const stop = repeat(1_000, work, (error) => errors.push(error));
  return { calls, errors, stop, pass: (ms: number) => t.mock.timers.tick(ms) };
}

test("a call that takes longer than its interval does not overlap with the next", async (t) => {
  const { calls, pass, stop } = repeated(t);
  pass(5_000);
  assert.equal(calls.length, 1);
  calls[0]?.resolve();
  await anImmediate();
  pass(1_000);
  assert.equal(calls.length, 2);
  calls[1]?.resolve();
  await stop();
});

test("a failed call is reported, and the next one follows", async (t) => {
  const { calls, errors, pass, stop } = repeated(t);
  pass(1_000);
  calls[0]?.reject("away");
  await anImmediate();
  assert.deepEqual(errors, ["away"]);
  pass(1_000);
  assert.equal(calls.length, 2);
  calls[1]?.resolve();
  await stop();
});

test("stopping waits for the running call, and no other follows", async (t) => {
  const { calls, pass, stop } = repeated(t);
  pass(1_000);
  let isStopped = false;
  const stopped = stop().then(() => (isStopped = true));
  await anImmediate();
  assert.equal(isStopped, false);
  calls[0]?.resolve();
  await stopped;
  pass(5_000);
  assert.equal(calls.length, 1);
});
