import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { createPartitions, dropExpiredPartitions } from "../../src/jobs/maintenance-sql.ts";
import { timeOrderedId } from "../../src/lib/ids.ts";
import { isForbidden, type Queryable } from "../../src/postgres/database.ts";
import { column } from "../support/columns.ts";
import { createDatabase, ownerOf } from "../support/database.ts";
import { untilBlocked } from "../support/until-blocked.ts";

const DAY_MS = 86_400_000;
const TABLES = ["events", "attempts", "finished_deliveries"];
const db = await createDatabase();
// It has only the partitions of the tests' own era.
const owner = ownerOf(db);
const today = new Date(new Date().setUTCHours(12, 0, 0, 0));
// Just before midnight, rows of one test would belong to two days.
const inDays = (days: number) => new Date(today.getTime() + days * DAY_MS);

/** A row of each history table at this moment. */
async function aRowOfEach(at: Date): Promise<string> {
  const id = timeOrderedId(at);
  await db`insert into events (id, organization_number, type, occurred_at, data)
           values (${id}, 1, 'vc.test.ping', ${at}, '{}')`;
  await db`
    insert into attempts (id, delivery_id, subscription_id, event_id, event_type, attempt, http_status, reason,
                          dead_lettered, duration_ms, attempted_at)
    values (${id}, ${id}, ${id}, ${id}, 'vc.test.ping', 1, 500, 'http_500', false, 1, ${at})`;
  await insertFinished(db, at);
  return id;
}

/** Deliveries that finished at this moment. Several finish at intervals of `stepMs`. */
async function insertFinished(tx: Queryable, at: Date, { count = 1, stepMs = 1 } = {}) {
  await tx`
    insert into finished_deliveries (id, finished_at, subscription_number, ending, attempts, troubled_organization_id)
    select gen_random_uuid(), ${at}::timestamptz + n * ${stepMs}::int * interval '1 millisecond', 1, 1, 0,
           ${randomUUID()}
      from generate_series(0, ${count - 1}::int) as n`;
}

/** Events at this moment and each millisecond after it. */
async function insertEvents(at: Date, count: number): Promise<void> {
  await owner`
    insert into events (id, organization_number, type, occurred_at, data)
    select overlay(gen_random_uuid()::text placing left(first_id_at(moment)::text, 13) from 1)::uuid, 1,
           'vc.test.ping', moment, '{}'
      from (select ${at}::timestamptz + n * interval '1 millisecond' as moment
              from generate_series(0, ${count - 1}::int) as n) as moments`;
}

async function countStrays(): Promise<number> {
  let count = 0;
  for (const table of TABLES)
    count += (await owner`select from ${owner(`${table}_default`)}`).length;
  return count;
}

async function moveStrays(tx: Queryable): Promise<boolean> {
  const [{ moved }] = await tx<[{ moved: boolean }]>`
    select move_strays('finished_deliveries') as moved`;
  return moved;
}

/** The number of tables with a partition for this moment. */
async function countCovering(at: Date): Promise<number> {
  const covering = await owner`
    select from history_partitions
     where since <= ${at} and until > ${at} and relation::text = any (${TABLES})`;
  return covering.length;
}

test("rows without a partition move into a new one, which leaves no gap", async () => {
  const id = await aRowOfEach(today);
  assert.equal(await countStrays(), 3);

  await createPartitions(db, today);
  assert.equal(await countStrays(), 0);
  assert.equal((await db`select from events where id = ${id}`).length, 1);
  assert.equal((await db`select from attempts where id = ${id}`).length, 1);
  assert.equal((await db`select from finished_deliveries`).length, 1);
  for (let hours = 0; hours <= 72; hours++)
    assert.equal(await countCovering(inDays(hours / 24)), 3);
});

test("rows with a clock that was years wrong move, too, and are dropped when they are old enough", async () => {
  const past = await aRowOfEach(inDays(-800));
  const future = await aRowOfEach(inDays(800));
  await createPartitions(db, today);
  assert.equal(await countStrays(), 0);

  await dropExpiredPartitions(db, today);
  assert.equal((await db`select from events where id = ${past}`).length, 0);
  assert.equal((await db`select from events where id = ${future}`).length, 1);
});

test("one transaction moves only some of many strays, and their partitions have no gap", async () => {
  const at = inDays(-5);
  await insertFinished(db, at, { count: 25_000 });
  assert.equal(await moveStrays(db), true);
  assert.equal(await countStrays(), 20_000);

  await createPartitions(db, today);
  assert.equal(await countStrays(), 0);
  const rows = await db`
    select distinct tableoid from finished_deliveries where finished_at between ${at} and ${inDays(-4.9)}`;
  assert.equal(rows.length, 5);
  for (const ms of [0, 4_999, 5_000, 24_999, 60_000]) {
    const covering = await owner`
      select from history_partitions
       where relation = 'finished_deliveries'::regclass
         and since <= ${at}::timestamptz + ${ms}::int * interval '1 ms' and until > ${at}::timestamptz + ${ms}::int * interval '1 ms'`;
    assert.equal(covering.length, 1, `${ms} ms`);
  }
});

test("strays of one millisecond move together, even above the limit of a transaction", async () => {
  const at = inDays(-7);
  await insertFinished(db, at, { count: 5_001, stepMs: 0 });
  await insertFinished(db, new Date(at.getTime() + 1), { count: 5_001, stepMs: 0 });
  await insertFinished(db, new Date(at.getTime() + 2));
  for (const left of [5_002, 1, 0]) {
    assert.equal(await moveStrays(db), true);
    assert.equal(await countStrays(), left);
  }
  assert.equal(await moveStrays(db), false);
});

for (const [table, day] of [
  ["finished_deliveries", -20],
  ["events", -30],
] as const) {
  test(`many strays of ${table} stay where they are, and their partition is made in one step`, async () => {
    const at = inDays(day);
    if (table === "events") await insertEvents(at, 50_001);
    else await insertFinished(db, at, { count: 50_001 });
    await aRowOfEach(inDays(day + 15)); // Beyond the next partition.
    const strays = `${table}_default`;
    const before = await describe(strays);

    await createPartitions(db, today);
    assert.equal(await countStrays(), 0);
    const key = db(table === "events" ? "occurred_at" : "finished_at");
    const places = await db<{ oid: string }[]>`
      select distinct tableoid::text as oid from ${db(table)}
       where ${key} between ${at} and ${inDays(day + 0.1)}`;
    assert.deepEqual(column(places, "oid"), [before.oid]);

    const after = await describe(strays);
    assert.notEqual(after.oid, before.oid);
    assert.deepEqual({ ...after, oid: "" }, { ...before, oid: "" });
    await assert.rejects(db`delete from ${db(strays)}`, isForbidden);
    await aRowOfEach(inDays(day - 2));
    assert.equal(await countStrays(), 3);
    await createPartitions(db, today);
    assert.equal(await countStrays(), 0);
  });
}

/** The place of a table, its number of indexes and constraints, and what ANALYZE keeps of its columns. */
async function describe(table: string) {
  const [row] = await owner<[{ oid: string; indexes: string; checks: string; kept: string[] }]>`
    select ${table}::regclass::oid::text as oid,
           (select count(*) from pg_index where indrelid = ${table}::regclass) as indexes,
           (select count(*) from pg_constraint where conrelid = ${table}::regclass) as checks,
           (select array_agg(attname || ' ' || coalesce(attstattarget, -1) order by attnum) from pg_attribute
             where attrelid = ${table}::regclass and attnum > 0) as kept`;
  return row;
}

test("a simultaneous insert waits for the move and uses the new partition", async () => {
  const at = inDays(-9);
  await insertFinished(db, at);
  let written: Promise<void> | undefined;
  await owner.begin(async (tx) => {
    assert.equal(await moveStrays(tx), true);
    written = insertFinished(db, at);
    written.catch(() => undefined);
    await untilBlocked(owner);
  });
  await written;
  assert.equal(await countStrays(), 0);
});
