import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { type Database, isUnavailable } from "../../../src/postgres/database.ts";
import { Pool, type PoolOptions } from "../../../src/postgres/driver/pool.ts";
import { readUrl } from "../../../src/postgres/driver/url.ts";
import { createDatabase, environmentOf, ownerOf } from "../../support/database.ts";
import { aGate } from "../../support/database-gate.ts";

/** A database whose service role may have this number of connections. */
async function aDatabaseFor(connections: number): Promise<Database> {
  const db = await createDatabase({ max: 1 });
  const owner = ownerOf(db);
  await owner`alter role ${owner(db.options.user)} ${owner.unsafe(`connection limit ${connections}`)}`;
  return db;
}

function aPool(
  t: TestContext,
  db: Database,
  options: Partial<PoolOptions> = {},
  url = environmentOf(db)["DATABASE_URL"],
) {
  const usual = { max: 1, silenceMs: 5_000, idleMs: 20_000 };
  const pool = new Pool({ ...readUrl(url ?? ""), ...usual, ...options });
  t.after(() => pool.end(0));
  return pool;
}

test("a role with fewer connections than the pool reduces only throughput", async (t) => {
  const db = await aDatabaseFor(6);
  const gate = await aGate(t, db, { max: 10 });
  const ask = async () => {
    for (let n = 0; n < 30; n++) await gate.db`select ${n}::int, pg_sleep(0.002)`;
  };
  await Promise.all(Array.from({ length: 30 }, ask));
  assert.equal(gate.dialled(), 10, "no connection is attempted again and again");
});

test("after a refused connection the pool tries again later", async (t) => {
  const db = await aDatabaseFor(2);
  const owner = ownerOf(db);
  const pool = aPool(t, db, { max: 4, contentMs: 100 });
  const ask = () => pool.run({ text: "select pg_sleep(0.05)" });
  const open = async () => {
    const [row] = await owner<[{ open: number }]>`
      select count(*)::int as open from pg_stat_activity where usename = ${db.options.user}`;
    return row.open;
  };
  await Promise.all(Array.from({ length: 8 }, ask));
  assert.equal(await open(), 2);

  await owner`alter role ${owner(db.options.user)} connection limit 10`;
  while ((await open()) < 4) await Promise.all(Array.from({ length: 8 }, ask));
});

test("without any connection 1,000 statements are refused at once, by two attempts to connect", async (t) => {
  const db = await aDatabaseFor(0);
  const gate = await aGate(t, db);
  const pool = aPool(t, db, { max: 2 }, gate.url);
  const asked = Array.from({ length: 1_000 }, () => pool.run({ text: "select 1" }));
  for (const { status, ...rest } of await Promise.allSettled(asked)) {
    assert.equal(status, "rejected");
    assert.equal((rest as { reason: { code: string } }).reason.code, "53300");
  }
  assert.equal(gate.dialled(), 2);
});

test(
  "1,000 callers of a silent server all get an error, without repeated connecting",
  { timeout: 60_000 },
  async (t) => {
    const gate = await aGate(t, await createDatabase());
    const pool = aPool(t, gate.db, { max: 4, silenceMs: 500 }, gate.url);
    const ask = () => pool.run({ text: "select pg_sleep(0.01)" });
    await Promise.all([1, 2, 3, 4].map(ask));
    gate.freeze();
    for (const answer of await Promise.allSettled(Array.from({ length: 1_000 }, ask))) {
      assert.equal(answer.status, "rejected");
      assert.ok(isUnavailable(answer.reason));
    }
    assert.ok(gate.dialled() <= 8, "each connection is replaced at most once");
  },
);

test("a statement that waits too long for a connection is refused, and takes no turn", async (t) => {
  const pool = aPool(t, await createDatabase(), { silenceMs: 100 });
  let letGo: () => void = () => undefined;
  const held = pool.begin(() => new Promise<void>((resolve) => (letGo = resolve)));
  await assert.rejects(pool.run({ text: "select 1" }), (error: Error) => {
    assert.equal(error.message, "no connection was free for 0.1 s");
    return isUnavailable(error);
  });
  letGo();
  await held;
  await pool.run({ text: "select 1" });
});

test("a connection whose transaction cannot be ended is not reused", async (t) => {
  const pool = aPool(t, await createDatabase());
  await pool.run({ text: "begin; create temporary table left_over ()" });
  await assert.rejects(pool.run({ text: "select from left_over" }), { code: "42P01" });
});

test("a closing pool finishes its statements and accepts no more", async (t) => {
  const pool = aPool(t, await createDatabase());
  const asked = [1, 2].map((n) => pool.run({ text: `select ${n} as n, pg_sleep(0.02)` }));
  const ended = pool.end(5_000);
  assert.equal(pool.end(0), ended);
  await assert.rejects(pool.run({ text: "select 3" }), isUnavailable);
  assert.deepEqual(
    (await Promise.all(asked)).map(([row]) => row?.["n"] as unknown),
    [1, 2],
  );
  await ended;
});

test("at the time limit of closing, running statements and silent servers are cut off", async (t) => {
  const db = await createDatabase();
  const gate = await aGate(t, db);
  const pool = aPool(t, db, { max: 2 }, gate.url);
  const open = Array.from({ length: 2 }, () => pool.run({ text: "select pg_sleep(0.01)" }));
  await Promise.all(open);
  gate.freeze();
  const asked = Array.from({ length: 3 }, () => pool.run({ text: "select 1" }));
  const refused = asked.slice(1).map((answer) => assert.rejects(answer, isUnavailable));
  await assert.rejects(Promise.all([asked[0], pool.end(50)]), isUnavailable);
  await Promise.all(refused);
  await pool.end(0);
});

test("an organization has at most half of the connections, and the others continue", async (t) => {
  const pool = aPool(t, await createDatabase({ max: 1 }), { max: 4 });
  const order: string[] = [];
  let release: () => void = () => undefined;
  const open = new Promise<void>((resolve) => (release = resolve));
  const held = Array.from({ length: 6 }, () =>
    pool.begin(
      (run) => {
        order.push("busy");
        return open.then(() => run({ text: "select 1" }));
      },
      { holder: "busy" },
    ),
  );
  while (order.length < 2) await new Promise(setImmediate);
  for (const holder of ["other", null]) {
    await pool.run({ text: "select 1" }, { holder });
    order.push(String(holder));
  }
  release();
  await Promise.all(held);
  assert.deepEqual(order, ["busy", "busy", "other", "null", "busy", "busy", "busy", "busy"]);
});

test("organizations that wait for a connection take turns", async (t) => {
  const pool = aPool(t, await createDatabase({ max: 1 }), { max: 1 });
  const order: string[] = [];
  const ask = async (holder: string) => {
    await pool.run({ text: "select 1" }, { holder });
    order.push(holder);
  };
  await Promise.all(["busy", "busy", "busy", "busy", "one", "two"].map(ask));
  assert.deepEqual(order, ["busy", "busy", "one", "two", "busy", "busy"]);
});
