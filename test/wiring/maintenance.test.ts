import assert from "node:assert/strict";
import { test } from "node:test";
import { turnPartitions } from "../../src/wiring/maintenance.ts";
import { createClock, ERA } from "../support/clock.ts";
import { createDatabase, ownerOf } from "../support/database.ts";

const DAY_MS = 86_400_000;
const db = await createDatabase();

test("while a backup reads the tables nobody is kept waiting for partitions, and later they are made", async () => {
  const clock = createClock(new Date(ERA.getTime() + 10 * DAY_MS));
  const countPartitions = async () => (await ownerOf(db)`select from history_partitions`).length;
  const before = await countPartitions();
  let turnedAway = 0;
  const turn = () => turnPartitions({ db, clock }, () => turnedAway++);

  await db.begin(async (backup) => {
    await backup`lock table events, attempts, finished_deliveries in access share mode`;
    await turn();
    assert.equal(turnedAway, 1);
    assert.equal(await countPartitions(), before);
  });
  await turn();
  assert.equal(turnedAway, 1);
  assert.ok((await countPartitions()) > before);
});
