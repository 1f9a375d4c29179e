import assert from "node:assert/strict";
import { test } from "node:test";
import {
  deleteExpiredKeys,
  startMaintenance,
  maintainPartitions,
} from "../../src/jobs/maintenance.ts";
import { timeOrderedId } from "../../src/lib/ids.ts";
import { DatabaseClock } from "../../src/observe/database-clock.ts";
import { connect, isUnavailable } from "../../src/postgres/database.ts";
import { createClock, ERA } from "../support/clock.ts";
import { aGate } from "../support/database-gate.ts";
import { createDatabase, environmentOf, ownerOf } from "../support/database.ts";
import { createEngine } from "../support/engine.ts";
import { stall } from "../support/stalled-transaction.ts";

const DAY_MS = 86_400_000;
const quietly = { exportsHistory: false, onInUse: () => undefined };
const db = await createDatabase();

test("during a backup nobody waits for partitions, and they are created later", async () => {
  const clock = createClock(new Date(ERA.getTime() + 10 * DAY_MS));
  const countPartitions = async () => (await ownerOf(db)`select from history_partitions`).length;
  const before = await countPartitions();
  let turnedAway = 0;
  const run = () =>
    maintainPartitions({ db, clock }, { exportsHistory: false, onInUse: () => turnedAway++ });

  await db.begin(async (backup) => {
    await backup`lock table events, attempts, finished_deliveries in access share mode`;
    await run();
    assert.equal(turnedAway, 1);
    assert.equal(await countPartitions(), before);
  });
  await run();
  assert.equal(turnedAway, 1);
  assert.ok((await countPartitions()) > before);
});

test("a stop ends the maintenance of partitions between two transactions", async () => {
  const id = timeOrderedId(new Date(ERA.getTime() - 40 * DAY_MS));
  await db`insert into events (id, organization_number, type, occurred_at, data)
           values (${id}, 1, 'vc.test.ping', ${ERA}, '{}')`;
  const deps = { db, clock: createClock() };
  const isThere = async () => (await db`select from events where id = ${id}`).length === 1;

  await maintainPartitions(deps, { ...quietly, signal: AbortSignal.abort() });
  assert.equal(await isThere(), true);
  await maintainPartitions(deps, quietly);
  assert.equal(await isThere(), false);
});

test("a slow maintenance statement fails its run and is not an outage", async (t) => {
  const slow = connect(`${environmentOf(db)["DATABASE_URL"] ?? ""}&statement_timeout=20`, {
    max: 1,
    name: "test",
  });
  t.after(() => slow.end({ timeout: 1 }));
  await ownerOf(db).begin(async (tx) => {
    await tx`select lock_partitions()`;
    await assert.rejects(
      maintainPartitions({ db: slow, clock: createClock() }, quietly),
      (error: Error) => {
        assert.equal(isUnavailable(error), false);
        assert.equal(isUnavailable(error.cause), true);
        return true;
      },
    );
  });
});

test("the maintenance of partitions does not wait for another process that stands still", async () => {
  let turnedAway = 0;
  await ownerOf(db).begin(async (other) => {
    await other`select lock_partitions()`;
    const onInUse = () => turnedAway++;
    await maintainPartitions({ db, clock: createClock() }, { exportsHistory: false, onInUse });
  });
  assert.equal(turnedAway, 1);
});

test("another process ends the session of a process that stalled in a transaction", async (t) => {
  const { deps } = await createEngine(db);
  const stalled = await stall(await aGate(t, db, { name: "test" }), db);
  const sessions = await new Promise((resolve, reject) => {
    const maintenance = startMaintenance(deps, new DatabaseClock(db), {
      exportsHistory: false,
      retentionMs: DAY_MS,
      standstillMs: 500,
      onError: reject,
      onInUse: () => undefined,
      onStalled: resolve,
    });
    t.after(() => maintenance.stop());
  });
  assert.equal(sessions, 1);
  await assert.rejects(stalled.goOn(), isUnavailable);
});

test("any number of expired dedupe keys is deleted", async () => {
  const { deps, clock } = await createEngine(db);
  const at = clock();
  await db`
    insert into dedupe_keys (organization_id, key, event_id, at)
    select gen_random_uuid(), 'key', gen_random_uuid(), ${at} from generate_series(1, 12000)`;
  const countKeys = async () => (await db`select from dedupe_keys`).length;
  clock.advance(DAY_MS + 60_000);
  await deleteExpiredKeys(deps);
  assert.equal(await countKeys(), 12_000);
  clock.advance(1);
  await deleteExpiredKeys(deps, AbortSignal.abort());
  assert.equal(await countKeys(), 12_000);
  await deleteExpiredKeys(deps);
  assert.equal(await countKeys(), 0);
});
