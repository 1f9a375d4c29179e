import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { createRecorder } from "../../src/delivery/recorder.ts";

test("a recorder gives up when its time is over, however much of it the writes took", async () => {
  let writes = 0;
  const away = new Error("the database is away");
  const record = createRecorder<string>(
    async () => {
      writes++;
      await sleep(20);
      throw away;
    },
    { isTransient: () => true, giveUpAfterMs: 10 },
  );
  await assert.rejects(record("an outcome"), away);
  assert.equal(writes, 1);
});

test("what the database refuses keeps nothing else from being written, in the order in which it came", async () => {
  const written: string[] = [];
  const refusal = new Error("a value that no column takes");
  const record = createRecorder<string>(
    (items) => {
      if (items.includes("refused")) return Promise.reject(refusal);
      written.push(...items);
      return Promise.resolve();
    },
    { isTransient: () => false, giveUpAfterMs: 0 },
  );
  const outcomes = ["a", "b", "refused", "c", "d", "e"].map(record);
  await assert.rejects(outcomes[2] ?? Promise.resolve(), refusal);
  await Promise.all(outcomes.toSpliced(2, 1));
  assert.deepEqual(written, ["a", "b", "c", "d", "e"]);
});

test("however many outcomes wait to be recorded, none is turned away", async () => {
  const many = Array.from({ length: 20_001 }, (_, n) => n);
  const written: number[] = [];
  const record = createRecorder<number>(
    (items) => {
      written.push(...items);
      return Promise.resolve();
    },
    { isTransient: () => true, giveUpAfterMs: 0 },
  );
  await Promise.all(many.map(record));
  assert.deepEqual(written, many);
});
