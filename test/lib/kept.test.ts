import assert from "node:assert/strict";
import { test } from "node:test";
import { kept } from "../../src/lib/kept.ts";

test("a result is cached for a second from its request on", async () => {
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
