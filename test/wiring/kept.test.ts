import assert from "node:assert/strict";
import { test } from "node:test";
import { kept, servedAtOnce } from "../../src/wiring/kept.ts";

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

test("a result that may be served again does not wait for the next one, which replaces it", async () => {
  const answers = ["away", "well"];
  let answer: () => void = () => undefined;
  const ask = servedAtOnce(
    () => new Promise<string>((resolve) => (answer = () => resolve(answers.shift() ?? "well"))),
    (last) => last === "away",
  );
  const first = ask();
  answer();
  assert.equal(await first, "away");
  assert.equal(await ask(), "away");
  answer();
  await new Promise((resolve) => setImmediate(resolve));
  const third = ask();
  answer();
  assert.equal(await third, "well");
});
