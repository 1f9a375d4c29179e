import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { isUnavailable } from "../../../src/postgres/database.ts";
import { createDatabase, environmentOf, openPool, ownerOf } from "../../support/database.ts";
import { aGate } from "../../support/database-gate.ts";

const db = await createDatabase({ max: 1 });
const owner = ownerOf(db);
const url = environmentOf(db)["DATABASE_URL"] ?? "";

type Pid = [{ pid: number }];

/** Ends a session, and waits until it is gone. */
async function terminate(pid: number): Promise<void> {
  await owner`select pg_terminate_backend(${pid}, 5000)`;
}

async function untilActive(pid: number): Promise<void> {
  const isActive = () => owner`
    select from pg_stat_activity where pid = ${pid} and query like '%pg_sleep%' and state = 'active'`;
  while ((await isActive()).count === 0) await sleep(5);
}

function isTerminated(error: unknown): boolean {
  return isUnavailable(error) && (error as Error).message.includes("terminating connection");
}

test("a statement whose connection is ended fails with the server's message, and the next one works", async () => {
  const [{ pid }] = await db<Pid>`select pg_backend_pid() as pid`;
  const asked = assert.rejects(db`select pg_sleep(60)`.execute(), isTerminated);
  await untilActive(pid);
  await terminate(pid);
  await asked;
  await db`select 1`;
});

test("a statement whose connection breaks silently is an outage that names the host", async (t) => {
  const gate = await aGate(t, db, { max: 1 });
  const [{ pid }] = await gate.db<Pid>`select pg_backend_pid() as pid`;
  const host = new URL(gate.url).host;
  const asked = assert.rejects(gate.db`select pg_sleep(60)`.execute(), (error: Error) => {
    assert.match(error.message, new RegExp(`^${host}: `));
    return isUnavailable(error);
  });
  await untilActive(pid);
  await gate.close();
  await asked;
  await gate.open();
  await gate.db`select 1`;
});

test("a connection lost between two statements of a transaction rolls it back", async () => {
  const torn = db.begin(async (tx) => {
    await tx`insert into rate_windows (organization_id, opened_at, used) values (gen_random_uuid(), 'now', 1)`;
    const [{ pid }] = await tx<Pid>`select pg_backend_pid() as pid`;
    await terminate(pid);
    await new Promise((noticed) => setTimeout(noticed, 50)); // No statement runs in the meantime.
    await assert.rejects(tx`select 1`, isTerminated);
    return "went on as if nothing had happened";
  });
  await assert.rejects(torn, isTerminated);
  assert.equal((await db`select from rate_windows`).count, 0);
});

test("a lost idle connection has no effect", async () => {
  const [{ pid }] = await db<Pid>`select pg_backend_pid() as pid`;
  await terminate(pid);
  await new Promise((noticed) => setTimeout(noticed, 50));
  const [next] = await db<Pid>`select pg_backend_pid() as pid`;
  assert.notEqual(next.pid, pid);
});

test("after an error in the middle of a result the next statement reads its own rows", async (t) => {
  const pool = openPool(t, url);
  for (let round = 0; round < 20; round++) {
    const torn = assert.rejects(
      pool`select n, 1 / (n - 5000) from generate_series(1, 10000) n`.execute(),
      { code: "22012" },
    );
    const next = Array.from({ length: 5 }, (_, n) => pool`select ${n}::int as own`.execute());
    await torn;
    for (const [n, rows] of (await Promise.all(next)).entries()) {
      assert.deepEqual([...rows], [{ own: n }]);
    }
  }
});

test("a plan that a table change made stale is prepared again", async (t) => {
  const pool = openPool(t, url);
  await owner`create table changing as select 1 as one`;
  await owner`grant select on changing to ${owner(db.options.user)}`;
  const read = () => pool`select * from changing`;
  assert.deepEqual([...(await read())], [{ one: 1 }]);

  await owner`alter table changing add column two int default 2`;
  for (let n = 0; n < 2; n++) assert.deepEqual([...(await read())], [{ one: 1, two: 2 }]);

  await owner`alter table changing drop column one`;
  const inTransaction = () => pool.begin(async (tx) => tx`select * from changing`);
  await assert.rejects(inTransaction(), (error: unknown) => {
    assert.equal((error as { code: string }).code, "0A000");
    return isUnavailable(error);
  });
  assert.deepEqual([...(await inTransaction())], [{ two: 2 }]);
});

test("texts are read correctly with any encoding of the role", async (t) => {
  const { user } = db.options;
  await owner`alter role ${owner(user)} set client_encoding = 'LATIN1'`;
  const pool = openPool(t, url);
  const [row] = await pool`select 'naïve €' as text`;
  assert.deepEqual(row, { text: "naïve €" });
});
