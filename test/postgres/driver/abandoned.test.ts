import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import {
  connect,
  type Database,
  type DatabaseOptions,
  isUnavailable,
} from "../../../src/postgres/database.ts";
import { createDatabase, ownerOf } from "../../support/database.ts";
import { aGate } from "../../support/database-gate.ts";

const PATIENCE_MS = 200;
/** If a limit does not hold, the test fails by name instead of waiting for ever. */
const HANGS = { timeout: 60_000 };
const db = await createDatabase({ max: 1 });
const owner = ownerOf(db);

/** A pool whose one connection is open, so that a limit does not include the way to it. */
async function connected(t: TestContext, options: Partial<DatabaseOptions>): Promise<Database> {
  const { db: pool } = await aGate(t, db, { max: 1, ...options });
  await pool.within(HANGS.timeout)`select 1`;
  return pool;
}

function isOverdue(error: unknown): boolean {
  return (
    isUnavailable(error) &&
    /the database did not answer for [\d.]+ s$/.test((error as Error).message)
  );
}

/** Open sessions of a pool. */
async function sessionsOf(name: string): Promise<number> {
  const [row] = await owner<[{ open: number }]>`
    select count(*)::int as open from pg_stat_activity where application_name = ${name}`;
  return row.open;
}

test(
  "a statement that takes too long is abandoned, and the server ends its session",
  HANGS,
  async (t) => {
    const pool = await connected(t, { name: "overdue" });
    await assert.rejects(pool.within(PATIENCE_MS)`select pg_sleep(60)`.execute(), isOverdue);
    const began = performance.now();
    while ((await sessionsOf("overdue")) > 0) {
      assert.ok(performance.now() - began < 10_000);
      await sleep(5);
    }
    await pool`select 1`;
  },
);

test(
  "a pool with a time limit abandons slower statements, and `within` may allow more time",
  HANGS,
  async (t) => {
    const pool = await connected(t, { name: "patient", patienceMs: PATIENCE_MS });
    await assert.rejects(pool`select pg_sleep(60)`.execute(), isOverdue);
    const begun = pool.begin((tx) => tx`select pg_sleep(60)`.execute());
    await assert.rejects(begun, isOverdue);
    await pool.within(HANGS.timeout)`select pg_sleep(${(2 * PATIENCE_MS) / 1_000})`;
  },
);

test(
  "a transaction has one limit for all its statements, and its locks are released at the limit",
  HANGS,
  async (t) => {
    const pool = await connected(t, { name: "overdue in parts" });
    const begun = pool.within(PATIENCE_MS).begin(async (tx) => {
      await tx`lock table settings in access share mode`;
      for (;;) await tx`select pg_sleep(${PATIENCE_MS / 4_000})`;
    });
    await assert.rejects(begun, isOverdue);
    await owner.begin(async (tx) => {
      await tx`set local lock_timeout = '10s'`;
      await tx`lock table settings`;
    });
    await pool`select 1`;
  },
);

test("a statement waits for a connection no longer than its limit", HANGS, async (t) => {
  const { db: pool } = await aGate(t, db, { max: 1 });
  const holder = new EventEmitter();
  const begun = once(holder, "begun");
  const held = pool.begin(() => {
    holder.emit("begun");
    return once(holder, "let go");
  });
  await begun;
  await assert.rejects(pool.within(PATIENCE_MS)`select 1`.execute(), /no connection was free/);
  holder.emit("let go");
  await held;
  await pool`select 1`;
});

test(
  "a connection that is ready too late for its statement serves the next one",
  HANGS,
  async (t) => {
    const gate = await aGate(t, db, { max: 1 });
    gate.freeze();
    await assert.rejects(gate.db.within(PATIENCE_MS)`select 1`.execute(), /no connection was free/);
    gate.thaw();
    await gate.db`select 1`;
    assert.equal(gate.dialled(), 1);
  },
);

test("a host that does not answer in time is abandoned", HANGS, async (t) => {
  const [old, next] = [await aGate(t, db), await aGate(t, db)];
  const url = old.url.replace(
    new URL(old.url).host,
    `${new URL(old.url).host},${new URL(next.url).host}`,
  );
  const pool = connect(url, { max: 3, name: "test" });
  t.after(() => pool.end({ timeout: 0 }));
  await Promise.all([1, 2, 3].map(() => pool`select pg_sleep(0.01)`));
  assert.deepEqual([old.dialled(), next.dialled()], [3, 0]);

  old.freeze();
  const patient = assert.rejects(pool`select 1`.execute(), /did not answer in time/);
  await assert.rejects(pool.within(PATIENCE_MS)`select 1`.execute(), isOverdue);
  await pool`select 1`;
  await patient;
  const cancelling = 1;
  assert.deepEqual([old.dialled(), next.dialled()], [3 + cancelling, 1]);
});
