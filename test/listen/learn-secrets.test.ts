import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { learnSecrets } from "../../src/listen/judge.ts";

test("a failed input ends only the learning", async () => {
  const input = new PassThrough();
  const told: (string | null)[] = [];
  const learned = new Promise<void>((resolve) => {
    const stop = learnSecrets(input, (secret) => {
      told.push(secret);
      if (secret === null) resolve();
    });
    input.once("close", stop);
  });
  input.write("whsec_a\nnonsense\n");
  await learned;
  input.destroy(new Error("EIO"));
  await new Promise((resolve) => input.once("close", resolve));
  assert.deepEqual(told, ["whsec_a", null]);
});
