import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { createRecorder } from "../../src/queue/recorder.ts";

const onRetry = () => undefined;
const SLOTS = { slots: 512 };

test("a failed write is repeated a little later and reported at once", async () => {
  const away = new Error("the database is away");
  const told: unknown[] = [];
  let writes = 0;
  const record = createRecorder<string>(
    () => (++writes < 3 ? Promise.reject(away) : Promise.resolve()),
    {
      ...SLOTS,
      isTransient: () => true,
      onRetry: (error) => told.push(error),
      giveUpAfterMs: 60_000,
    },
  );
  await record("an outcome");
  assert.deepEqual(told, [away, away]);
});

test("a recorder gives up at its time limit, regardless of the duration of each write", async () => {
  let writes = 0;
  const away = new Error("the database is away");
  const record = createRecorder<string>(
    async () => {
      writes++;
      await sleep(20);
      throw away;
    },
    { ...SLOTS, isTransient: () => true, onRetry, giveUpAfterMs: 10 },
  );
  await assert.rejects(record("an outcome"), away);
  assert.equal(writes, 1);
});

test("an outcome that the database refuses does not stop others, and their order stays", async () => {
  const written: string[] = [];
  const refusal = new Error("a value that no column takes");
  const record = createRecorder<string>(
    (items) => {
      if (items.includes("refused")) return Promise.reject(refusal);
      written.push(...items);
      return Promise.resolve();
    },
    { ...SLOTS, isTransient: () => false, onRetry, giveUpAfterMs: 0 },
  );
  const outcomes = ["a", "b", "refused", "c", "d", "e"].map(record);
  await assert.rejects(outcomes[2] ?? Promise.resolve(), refusal);
  await Promise.all(outcomes.toSpliced(2, 1));
  assert.deepEqual(written, ["a", "b", "c", "d", "e"]);
});

test("outcomes are never refused, even if 10,000 wait to be recorded", async () => {
  const many = Array.from({ length: 20_001 }, (_, n) => n);
  const written: number[] = [];
  const record = createRecorder<number>(
    (items) => {
      written.push(...items);
      return Promise.resolve();
    },
    { ...SLOTS, isTransient: () => true, onRetry, giveUpAfterMs: 0 },
  );
  await Promise.all(many.map(record));
  assert.deepEqual(written, many);
});

test("as many outcomes as there are slots are written at once, and fewer wait for others", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const batches: string[][] = [];
  const record = createRecorder<string>(
    (items) => {
      batches.push(items);
      return Promise.resolve();
    },
    { slots: 2, isTransient: () => true, onRetry, giveUpAfterMs: 0 },
  );
  await Promise.all([record("a"), record("b")]);
  const alone = record("c");
  await new Promise(setImmediate);
  assert.deepEqual(batches, [["a", "b"]]);
  t.mock.timers.tick(50);
  await alone;
  assert.deepEqual(batches, [["a", "b"], ["c"]]);
});
