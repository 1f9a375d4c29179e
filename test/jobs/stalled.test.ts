import assert from "node:assert/strict";
import { test } from "node:test";
import { endStalled } from "../../src/jobs/maintenance-sql.ts";
import { isUnavailable } from "../../src/postgres/database.ts";
import { aGate } from "../support/database-gate.ts";
import { createDatabase } from "../support/database.ts";
import { stall } from "../support/stalled-transaction.ts";

const db = await createDatabase();

test("a process that stops while the server prepares its next statement is ended at its limit", async (t) => {
  const stalled = await stall(await aGate(t, db, { name: "test" }), db);
  assert.equal(await endStalled(db, 60_000), 0);
  assert.equal(await endStalled(db, 0), 1);
  await assert.rejects(stalled.goOn(), isUnavailable);
});

test("foreign, working and idle sessions are not ended", async (t) => {
  const stranger = await stall(await aGate(t, db, { name: "somebody else's" }), db);
  const rests = await aGate(t, db, { name: "test" });
  await rests.db.begin(async (tx) => {
    await tx`select 1`;
    const works = db`select pg_sleep(0.2)`.execute();
    assert.equal(await endStalled(db, 0), 0);
    await works;
    await tx`select 1`;
  });
  await stranger.goOn();
});
