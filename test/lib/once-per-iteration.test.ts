import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { OncePerIteration } from "../../src/lib/once-per-iteration.ts";

/** Returns who goes on in each of the next iterations of the event loop. */
async function passing(gate: OncePerIteration<string>, holders: string[]): Promise<string[]> {
  let passed = "";
  for (const holder of holders) void gate.next(holder).then(() => (passed += holder));
  const seen: string[] = [];
  for (let iteration = 0; iteration < 3; iteration++) {
    await setImmediate();
    seen.push(passed);
    passed = "";
  }
  return seen;
}

test("each holder goes on once in each iteration of the event loop", async () => {
  const gate = new OncePerIteration<string>();
  assert.deepEqual(await passing(gate, ["a", "a", "a", "b", "b"]), ["ab", "ab", "a"]);
});

test("after a pause a holder goes on immediately", async () => {
  const gate = new OncePerIteration<string>();
  await passing(gate, ["a"]);
  let isPassed = false;
  void gate.next("a").then(() => (isPassed = true));
  await Promise.resolve();
  assert.ok(isPassed);
});
