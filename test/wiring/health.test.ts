import assert from "node:assert/strict";
import { test } from "node:test";
import { DatabaseClock } from "../../src/wiring/database-clock.ts";
import { Readiness } from "../../src/wiring/health.ts";
import { createDatabase, ownerOf } from "../support/database.ts";

const db = await createDatabase();

test("a database that neither answers nor refuses is told of at once, not when a statement times out", async () => {
  await ownerOf(db).begin(async (busy) => {
    await busy`lock table schema_migrations`;
    const [database] = await new Readiness(db, new DatabaseClock(db), 50).ready();
    assert.deepEqual(database, { name: "database", ok: false, detail: "unreachable" });
  });
  const checks = await new Readiness(db, new DatabaseClock(db)).ready();
  assert.ok(checks.every(({ ok }) => ok));
});

test("a process that is stopping is not ready, however lately it was", async () => {
  const readiness = new Readiness(db, new DatabaseClock(db));
  assert.ok((await readiness.ready()).every(({ ok }) => ok));
  readiness.noteStopping();
  assert.deepEqual(await readiness.ready(), [{ name: "stopping", ok: false }]);
});
