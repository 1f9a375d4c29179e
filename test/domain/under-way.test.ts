import assert from "node:assert/strict";
import { test } from "node:test";
import { sharedWhileUnderWay } from "../../src/domain/under-way.ts";

function anOracle() {
  const asked: { question: string; answer: (text: string) => void; fail: () => void }[] = [];
  const ask = sharedWhileUnderWay<string>(
    (question) =>
      new Promise((answer, reject) => {
        const fail = () => {
          reject(new Error("it is silent"));
        };
        asked.push({ question, answer, fail });
      }),
  );
  return { asked, ask };
}

test("who asks the same while it is under way shares the answer, and others do not", async () => {
  const { asked, ask } = anOracle();
  const answers = [ask("a"), ask("a"), ask("b")];
  for (const { question, answer } of asked) answer(question.toUpperCase());
  assert.deepEqual(await Promise.all(answers), ["A", "A", "B"]);
  assert.equal(asked.length, 2);
});

test("an answer is not remembered, and neither is a failure", async () => {
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
