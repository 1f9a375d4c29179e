import assert from "node:assert/strict";
import { createServer } from "node:net";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { isTransient, isUnavailable } from "../../src/postgres/database.ts";
import { createDatabase, openPool } from "../support/database.ts";
import { aGate } from "../support/database-gate.ts";
import { openPort } from "../support/free-port.ts";

const db = await createDatabase({ max: 1 });

test("a silent server counts as unavailable, and is used again when it responds", async (t) => {
  const gate = await aGate(t, db, { silenceMs: 1_000 });
  await gate.db`select 1`;
  gate.freeze();
  await assert.rejects(async () => gate.db`select 1`, isUnavailable);

  gate.thaw();
  const [row] = await gate.db<{ one: number }[]>`select 1 as one`;
  assert.equal(row?.one, 1);
});

test("a slow statement is not abandoned while the server sends data", async (t) => {
  const gate = await aGate(t, db, { silenceMs: 1_000 });
  const [row] = await gate.db<{ n: string }[]>`
    select count(*) as n from (select pg_sleep(0.1) from generate_series(1, 5)) as slow`;
  assert.equal(row?.n, "5");
});

test("a connection lost in a transaction is an outage, and the next statement uses another", async (t) => {
  const gate = await aGate(t, db);
  for (let round = 0; round < 3; round++) {
    const cut = gate.db.begin((tx) => tx`select pg_terminate_backend(pg_backend_pid())`);
    await assert.rejects(cut, isUnavailable);
    const [row] = await gate.db<{ one: number }[]>`select 1 as one`;
    assert.equal(row?.one, 1);
  }
});

test("a lost connection does not end statements of others", async (t) => {
  const gate = await aGate(t, db, { max: 2 });
  const pid = () => gate.db<[{ pid: number }]>`select pg_backend_pid() as pid, pg_sleep(0.1)`;
  const pids = (await Promise.all([pid(), pid()])).map(([row]) => row.pid);

  const slow = gate.db<[{ pid: number }]>`select pg_backend_pid() as pid, pg_sleep(0.9)`.execute();
  const active = () => db<{ pid: number }[]>`
    select pid from pg_stat_activity where pid = any(${pids}) and state = 'active'`;
  let [busy] = await active();
  while (busy === undefined) [busy] = await active();
  const idle = pids.find((pid) => pid !== busy.pid) ?? 0;
  await db`select pg_terminate_backend(${idle})`;

  assert.equal((await slow)[0].pid, busy.pid);
});

test("after a lost connection the rest of its transaction is not executed", async (t) => {
  const gate = await aGate(t, db, { max: 1, silenceMs: 500 });
  let rest = Promise.resolve("not begun");
  const torn = gate.db.begin(async (tx) => {
    const next = gate.db`select 1`.catch(() => undefined); // For this statement the driver connects again.
    await tx`select pg_terminate_backend(pg_backend_pid())`.catch(() => undefined);
    const goOn = async () => {
      await next;
      await tx`insert into organizations (id, slug, rate_limit_per_minute, created_at)
               values (gen_random_uuid(), 'left-over', 600, now())`;
      return "done";
    };
    rest = goOn().catch(() => "refused");
    await rest;
  });
  await assert.rejects(torn, isUnavailable);
  assert.equal(await rest, "refused");
  assert.equal((await db`select from organizations where slug = 'left-over'`).count, 0);
});

test("a process that pauses in a transaction blocks others only briefly, and then finds an outage", async (t) => {
  const gate = await aGate(t, db, { idleInTransactionMs: 100 });
  const slept = gate.db.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(7)`;
    gate.freeze();
    await db`select pg_advisory_xact_lock(7)`;
    const goesOn = tx`select 1`.execute();
    gate.thaw();
    await goesOn;
  });
  await assert.rejects(slept, isUnavailable);
});

test("no state of a lost connection reaches its replacement", async (t) => {
  const gate = await aGate(t, db, { max: 1 });
  for (let round = 0; round < 3; round++) {
    await gate.db`select pg_sleep(1.1)`; // A connection younger than a second counts as one that never worked.
    const came = [gate.db`select pg_terminate_backend(pg_backend_pid())`.catch(requireAway)];
    for (let turn = 0; turn < 20; turn++) {
      await new Promise(setImmediate);
      came.push(ask(turn));
    }
    await Promise.all(came);
  }

  async function ask(turn: number) {
    try {
      assert.deepEqual([...(await gate.db`select ${turn}::int as turn`)], [{ turn }]);
    } catch (error) {
      requireAway(error);
    }
  }

  function requireAway(error: unknown) {
    assert.ok(isUnavailable(error));
    assert.notEqual(
      (error as { code: string }).code,
      "CONNECT_TIMEOUT",
      "no connection was attempted",
    );
  }
});

test("a proxy without a server behind it is an outage, without endless connecting", async (t) => {
  let calls = 0;
  const proxy = createServer((socket) => {
    calls++;
    socket.end();
  });
  const port = await openPort(t, proxy);
  const behind = openPool(t, `postgres://nobody@127.0.0.1:${port}/none`);

  await assert.rejects(async () => behind`select 1`, isUnavailable);
  assert.equal(calls, 1);
});

test("broken connections under load are outages, not internal errors", async (t) => {
  const gate = await aGate(t, db);
  const unlike: unknown[] = [];
  let isOver = false;
  const ask = async () => {
    while (!isOver) {
      // Large enough for its own packet, as batches are.
      await gate.db`select ${"x".repeat(700)}::text`.catch((error: unknown) => {
        if (!isUnavailable(error)) unlike.push(error);
      });
      await new Promise(setImmediate);
    }
  };
  const asking = Promise.all(Array.from({ length: 20 }, ask));
  for (let round = 0; round < 20; round++) {
    await gate.close();
    await new Promise(setImmediate);
    await gate.open();
    await sleep(30);
  }
  isOver = true;
  await asking;
  assert.deepEqual(unlike, []);
});

test("a standby is not used: no connection stays, and the primary is found again", async (t) => {
  const gate = await aGate(t, db);
  await gate.db`select 1`;
  await gate.close();
  await gate.open();
  gate.demote();
  await assert.rejects(async () => gate.db`select 1`, isUnavailable);
  await assert.rejects(
    gate.db.begin((tx) => tx`select 1`),
    isUnavailable,
  );
  const connected = () => db`
    select from pg_stat_activity where application_name = 'test behind a gate' and datname = current_database()`;
  while ((await connected()).count > 0) await sleep(5);
  gate.promote();
  const [row] = await gate.db<{ one: number }[]>`select 1 as one`;
  assert.equal(row?.one, 1);
});

test("temporary faults are retried: no descriptors, a lock timeout, an idle timeout", () => {
  for (const code of ["EMFILE", "ENFILE", "ENOBUFS", "EADDRNOTAVAIL", "57P05", "25P04", "55P03"]) {
    assert.ok(isTransient({ code }), code);
  }
  assert.ok(!isTransient({ code: "23514" }));
});
