import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { Writes } from "../../src/observe/outage.ts";
import { isUnavailable } from "../../src/postgres/database.ts";
import { aGate } from "../support/database-gate.ts";
import { createDatabase, ownerOf } from "../support/database.ts";

const db = await createDatabase();
const away = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });

test("the check commits a write", async () => {
  const before = await writes();
  await new Writes(db).check();
  assert.equal(await writes(), before + 1);
});

async function writes(): Promise<number> {
  const [row] = await ownerOf(db)<[{ writes: number }]>`select writes::int from readiness`;
  return row.writes;
}

test("simultaneous checks share one write", async () => {
  const writes = new Writes(db);
  assert.equal(writes.check(), writes.check());
  await writes.check();
});

test("a write that takes too long is abandoned", async () => {
  await ownerOf(db).begin(async (busy) => {
    await busy`lock table readiness`;
    await assert.rejects(new Writes(db, 50).check(), { code: "ETIMEDOUT" });
  });
  await new Writes(db).check();
});

test("a database without the row fails the check", async () => {
  const other = await createDatabase();
  await ownerOf(other)`delete from readiness`;
  await assert.rejects(new Writes(other).check(), /has no row/);
});

test("a failed write is remembered until one succeeds", async () => {
  const writes = new Writes(db);
  assert.ok(!writes.hasFailed());
  await assert.rejects(writes.note(Promise.reject(away)), away);
  assert.ok(writes.hasFailed(1_000));
  assert.equal(await writes.note(Promise.resolve("done")), "done");
  assert.ok(!writes.hasFailed());
});

test("a write that is refused for its content does not count as a failure", async () => {
  const writes = new Writes(db);
  const wrong = Object.assign(new Error("null value"), { code: "23502" });
  await assert.rejects(writes.note(Promise.reject(wrong)), wrong);
  assert.ok(!writes.hasFailed());
});

test("a write that waited too long for its organization's connections does not count as a failure", async (t) => {
  const { db, writes } = await aPoolOf(t, 2);
  const [held, release] = holding(t);
  const busy = db.of("acme").begin(() => held);
  const late = db
    .within(400)
    .of("acme")
    .begin((tx) => tx`select 1`);
  const message = "the connections that one organization may use were busy for 0.2 s"; // The rest is for its work.
  await assert.rejects(writes.note(late), { message });
  assert.ok(!writes.hasFailed());
  release();
  await busy;
});

test("a write that waited too long for a connection of the service's own counts as a failure", async (t) => {
  const { db, writes } = await aPoolOf(t, 1);
  const [held, release] = holding(t);
  const busy = db.begin(() => held);
  await assert.rejects(writes.note(db.within(50).begin((tx) => tx`select 1`)), isUnavailable);
  assert.ok(writes.hasFailed(1_000));
  release();
  await busy;
});

async function aPoolOf(t: TestContext, max: number) {
  const { db } = await aGate(t, await createDatabase({ max: 1 }), { max });
  return { db, writes: new Writes(db) };
}

function holding(t: TestContext): [held: Promise<void>, release: () => void] {
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  t.after(() => {
    release(); // Otherwise a failure would leave the transaction open.
  });
  return [held, release];
}

test("without the database every check fails, and the first one afterwards succeeds", async (t) => {
  const gate = await aGate(t, db);
  const writes = new Writes(gate.db);
  await gate.close();
  await assert.rejects(writes.check(), { code: "ECONNREFUSED" });
  await gate.open();
  await writes.check();
});
