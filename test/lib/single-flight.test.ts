import assert from "node:assert/strict";
import { test } from "node:test";
import { SingleFlight } from "../../src/lib/single-flight.ts";

function anOracle(sharing?: { forMs: number; nowMs: () => number }) {
  const asked: { question: string; answer: (text: string) => void; fail: () => void }[] = [];
  const inFlight = new SingleFlight<string>(
    (question) =>
      new Promise((answer, reject) => {
        const fail = () => {
          reject(new Error("it is silent"));
        };
        asked.push({ question, answer, fail });
      }),
    { max: 2, beyond: "too many" },
    sharing,
  );
  return { asked, ask: (question: string) => inFlight.ask(question) };
}

test("calls with the same key share a pending result", async () => {
  const { asked, ask } = anOracle();
  const answers = [ask("a"), ask("a"), ask("b")];
  for (const { question, answer } of asked) answer(question.toUpperCase());
  assert.deepEqual(await Promise.all(answers), ["A", "A", "B"]);
  assert.equal(asked.length, 2);
});

test("neither results nor failures are cached", async () => {
  const { asked, ask } = anOracle();
  const first = ask("a");
  asked[0]?.fail();
  await assert.rejects(first, /silent/);

  const second = ask("a");
  asked[1]?.answer("A");
  assert.equal(await second, "A");

  void ask("a");
  assert.equal(asked.length, 3);
});

test("a call beyond the limit returns at once, and pending results are still shared", async () => {
  const { asked, ask } = anOracle();
  const first = [ask("a"), ask("b")];
  assert.equal(await ask("c"), "too many");

  const again = ask("a");
  for (const { question, answer } of asked) answer(question.toUpperCase());
  assert.deepEqual(await Promise.all([...first, again]), ["A", "B", "A"]);
  const later = ask("c");
  asked[2]?.answer("C");
  assert.equal(await later, "C");
});

test("a call does not share an older pending result, and both count", async () => {
  let now = 0;
  const { asked, ask } = anOracle({ forMs: 1_000, nowMs: () => now });
  const old = [ask("a")];
  now = 1_000;
  old.push(ask("a"));
  assert.equal(asked.length, 1);
  now = 1_001;
  const young = [ask("a")];
  assert.equal(asked.length, 2);
  assert.equal(await ask("b"), "too many");

  asked[0]?.answer("old");
  assert.deepEqual(await Promise.all(old), ["old", "old"]);
  young.push(ask("a"));
  assert.equal(asked.length, 2);
  asked[1]?.answer("young");
  assert.deepEqual(await Promise.all(young), ["young", "young"]);
});
