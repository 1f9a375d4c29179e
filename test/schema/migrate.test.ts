import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { after, test } from "node:test";
import { createPartitions, dropExpiredPartitions } from "../../src/jobs/maintenance-sql.ts";
import { timeOrderedId } from "../../src/lib/ids.ts";
import { connect, type Database } from "../../src/postgres/database.ts";
import { lockSchema, migrate, writeRetention } from "../../src/schema/migrate.ts";
import { claimExport } from "../../src/subjects/activity/exports-sql.ts";
import { lockJobs, tryLockJobs } from "../../src/subjects/redeliveries/sql.ts";
import { createDatabase, environmentOf } from "../support/database.ts";

const FOLDER = new URL("../../../src/postgres/migrations/", import.meta.url);
const DAY_MS = 86_400_000;
const now = new Date();
const environment = environmentOf(await createDatabase());

/** A schema after the first two migrations, with the partitions of a day, on one connection. */
async function anEarlierSchema(name: string): Promise<Database> {
  const url = environment["MIGRATION_DATABASE_URL"] ?? "";
  const db = connect(url, { max: 1, name: "test earlier schema" });
  after(() => db.end({ timeout: 1 }));
  await db`create schema ${db(name)}`;
  await db`select set_config('search_path', ${name}, false)`;
  await db`create table schema_migrations (version integer primary key, name text not null)`;
  for (const [index, file] of (await readdir(FOLDER)).sort().slice(0, 2).entries()) {
    await db.unsafe(await readFile(new URL(file, FOLDER), "utf8"));
    await db`insert into schema_migrations (version, name) values (${index + 1}, ${file})`;
  }
  await writeRetention(db, 30 * DAY_MS);
  for (const table of ["finished_deliveries", "attempts", "events"]) await turnAsBefore(db, table);
  return db;
}

/** The calls of a process of the previous version on the new schema. */
async function turnAsBefore(db: Database, table: string): Promise<void> {
  await db`select create_partitions(${table}, ${now})`;
  await db`select drop_expired_partitions(${table}, ${now})`;
  await db`select delete_expired_rows(${now})`;
}

/** An event and its waiting delivery. */
async function anEvent(db: Database, at: Date): Promise<string> {
  const id = timeOrderedId(at);
  await db`insert into events (id, organization_id, type, occurred_at, data)
           values (${id}, ${id}, 'vc.test.ping', ${at}, '{}')`;
  await db`insert into waiting_deliveries (id, event_id, subscription_id, organization_id, created_at, due_at)
           values (${id}, ${id}, ${id}, ${id}, ${at}, ${at})`;
  return id;
}

async function listEvents(db: Database): Promise<string[]> {
  return (await db<{ id: string }[]>`select id from events order by id`).map(({ id }) => id);
}

test("a database of an earlier build keeps its rows, and its partitions work as in a new one", async () => {
  const db = await anEarlierSchema("earlier");
  const stray = await anEvent(db, new Date(now.getTime() - 60 * DAY_MS));
  const young = await anEvent(db, now);

  const [first] = await migrate(db);
  assert.equal(first, "0003_retention.sql");
  assert.deepEqual(await listEvents(db), [stray, young]);

  await createPartitions(db, now);
  await dropExpiredPartitions(db, now);
  assert.deepEqual(await listEvents(db), [stray, young]);
  await db`delete from waiting_deliveries`;
  await createPartitions(db, now);
  await dropExpiredPartitions(db, now);
  assert.deepEqual(await listEvents(db), [young]);
});

test("the new schema works for processes of the previous version", async () => {
  const db = await anEarlierSchema("overtaken");
  await migrate(db);
  for (const table of ["finished_deliveries", "attempts", "events"]) await turnAsBefore(db, table);
});

test("schemas of one database do not wait for each other's maintenance, migrations, jobs, exports or moves", async () => {
  const [one, other] = [await anEarlierSchema("one"), await anEarlierSchema("other")];
  await migrate(one);
  await migrate(other);
  await one.begin(async (tx) => {
    await tx`select lock_partitions()`;
    await createPartitions(other, now);
    await dropExpiredPartitions(other, now);
  });
  await one.begin(async (tx) => {
    await lockSchema(tx);
    assert.deepEqual(await migrate(other), []);
  });
  await one.begin(async (tx) => {
    await lockJobs(tx);
    assert.equal(await other.begin(tryLockJobs), true);
    await other.begin(lockJobs);
  });
  const lease = { now, leasedUntil: now };
  await one.begin(async (tx) => {
    await claimExport({ begin: (work) => work(tx) } as Database, lease);
    assert.equal(await claimExport(other, lease), null);
  });
});

test("a migration with tables in use lets others pass, reports this once, and is applied when they are free", async () => {
  const db = await anEarlierSchema("in_use");
  const { MIGRATION_DATABASE_URL: url = "" } = environment;
  const others = connect(`${url}?search_path=in_use`, { max: 2, name: "test" });
  after(() => others.end({ timeout: 1 }));
  const waited: string[] = [];
  let migrating: Promise<string[]> | undefined;
  await others.begin(async (backup) => {
    await backup`lock table events in access share mode`;
    let onWait: (name: string) => void = () => undefined;
    const waits = new Promise<void>((resolve) => {
      onWait = (name) => {
        waited.push(name);
        resolve();
      };
    });
    migrating = migrate(db, { onWait, lockMs: 20, pauseMs: 20, tries: 10_000 });
    await waits;
    await anEvent(others, now); // It does not wait long for the migration.
  });
  assert.equal((await migrating)?.[0], "0003_retention.sql");
  assert.equal(waited.length, 1);
});

test("a migration whose tables stay in use fails with one line, and earlier migrations stay applied", async () => {
  const db = await anEarlierSchema("held");
  const { MIGRATION_DATABASE_URL: url = "" } = environment;
  const other = connect(`${url}?search_path=held`, { max: 1, name: "test" });
  after(() => other.end({ timeout: 1 }));
  await other.begin(async (backup) => {
    await backup`lock table events in access share mode`;
    await assert.rejects(migrate(db, { lockMs: 20, pauseMs: 1, tries: 3 }), (error: Error) => {
      assert.match(
        error.message,
        /^\d{4}_\w+\.sql was not applied: other sessions use its tables.* run it again$/,
      );
      return true;
    });
  });
  const rest = await migrate(db);
  assert.ok(rest.length > 0 && !rest.includes("0003_retention.sql"));
});

test("each migration has a number of its own", async () => {
  const numbers = (await readdir(FOLDER)).map((name) => name.slice(0, 4));
  assert.deepEqual([...new Set(numbers)], numbers);
});
