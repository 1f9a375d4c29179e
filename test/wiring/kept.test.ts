import assert from "node:assert/strict";
import { test } from "node:test";
import { kept } from "../../src/wiring/kept.ts";

test("an answer is kept for a second from the question on, and then asked for anew", async () => {
  let nowMs = 0;
  let asked = 0;
  const ask = kept(
    () => Promise.resolve(++asked),
    () => nowMs,
  );
  assert.equal(await ask(), 1);
  nowMs = 1_000;
  assert.equal(await ask(), 1);
  nowMs = 1_001;
  assert.equal(await ask(), 2);
});
