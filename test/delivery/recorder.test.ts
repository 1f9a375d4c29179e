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
