import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { OncePerTurn } from "../../src/lib/once-per-turn.ts";

/** Returns who goes on in each of the next turns. */
async function passing(turns: OncePerTurn<string>, holders: string[]): Promise<string[]> {
  let passed = "";
  for (const holder of holders) void turns.turn(holder).then(() => (passed += holder));
  const seen: string[] = [];
  for (let turn = 0; turn < 3; turn++) {
    await setImmediate();
    seen.push(passed);
    passed = "";
  }
  return seen;
}

test("each holder goes on once in each turn of the event loop", async () => {
  const turns = new OncePerTurn<string>();
  assert.deepEqual(await passing(turns, ["a", "a", "a", "b", "b"]), ["ab", "ab", "a"]);
});

test("after a pause a holder goes on immediately", async () => {
  const turns = new OncePerTurn<string>();
  await passing(turns, ["a"]);
  let isPassed = false;
  void turns.turn("a").then(() => (isPassed = true));
  await Promise.resolve();
  assert.ok(isPassed);
});
