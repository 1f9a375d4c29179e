import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { after, test } from "node:test";
import { createPartitions, dropExpiredPartitions } from "../../src/jobs/maintenance-sql.ts";
import { connect, type Database } from "../../src/postgres/database.ts";
import {
  findPendingMigrations,
  lockSchema,
  migrate,
  writeRetention,
} from "../../src/schema/migrate.ts";
import { claimExport } from "../../src/subjects/activity/exports-sql.ts";
import { lockJobs, tryLockJobs } from "../../src/subjects/redeliveries/sql.ts";
import { createDatabase, environmentOf } from "../support/database.ts";

const FOLDER = new URL("../../../src/postgres/migrations/", import.meta.url);
/** It locks the table of the one before, for its foreign key. */
const SUBSCRIPTIONS = "0003_subscriptions.sql";
const ORGANIZATIONS = "0002_organizations.sql";
const DAY_MS = 86_400_000;
const now = new Date();
const environment = environmentOf(await createDatabase());

/** A schema after these migrations, on one connection. */
async function aSchemaAfter(names: string[], name: string): Promise<Database> {
  const db = await aSchema(name);
  for (const file of names) {
    await db.unsafe(await readFile(new URL(file, FOLDER), "utf8"));
    await db`insert into schema_migrations (version, name) values (${Number(file.slice(0, 4))}, ${file})`;
  }
  return db;
}

async function aSchema(name: string): Promise<Database> {
  const url = environment["MIGRATION_DATABASE_URL"] ?? "";
  const db = connect(url, { max: 1, name: "test schema" });
  after(() => db.end({ timeout: 1 }));
  await db`create schema ${db(name)}`;
  await db`select set_config('search_path', ${name}, false)`;
  await db`create table schema_migrations (version integer primary key, name text not null)`;
  return db;
}

async function anOrganization(db: Database): Promise<void> {
  await db`insert into organizations (id, slug, rate_limit_per_minute, created_at)
           values (${randomUUID()}, 'acme', 600, ${now})`;
}

test("a database of a build from before 1.0.0 is refused with one sentence, and is not changed", async () => {
  const db = await aSchema("unpublished");
  await db`insert into schema_migrations (version, name) values (1, '0001_initial.sql'), (100, '0100_leads.sql')`;
  const refusal = {
    message: /^the schema was made by a build from before 1\.0\.0 .*: use an empty database[^\n]*$/,
  };
  await assert.rejects(migrate(db), refusal);
  await assert.rejects(findPendingMigrations(db), refusal);
  const [row] = await db`select to_regclass('settings') as settings`;
  assert.equal(row?.["settings"], null);
});

test("a schema that comes before ours, such as a new one with the role's name, gets no second set of tables", async () => {
  const db = await aSchemaAfter(["0001_service.sql"], "earlier");
  await db`create schema roles_own`;
  await db`select set_config('search_path', 'roles_own, earlier', false)`;
  assert.ok((await findPendingMigrations(db)).includes(ORGANIZATIONS));
  await assert.rejects(migrate(db), {
    message:
      "the tables are in the schema earlier, but search_path begins with roles_own: add search_path=earlier to the URL",
  });
  const [row] = await db`select to_regclass('roles_own.schema_migrations') as made`;
  assert.equal(row?.["made"], null);
});

test("a database that is newer than this program is not changed", async () => {
  const db = await aSchema("newer");
  await migrate(db);
  await db`insert into schema_migrations (version, name) values (9999, '9999_later.sql')`;
  assert.deepEqual(await migrate(db), []);
});

test("schemas of one database do not wait for each other's maintenance, migrations, jobs, exports or moves", async () => {
  const [one, other] = [await aSchema("one"), await aSchema("other")];
  for (const db of [one, other]) {
    await migrate(db);
    await writeRetention(db, 30 * DAY_MS);
  }
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
  const db = await aSchemaAfter([ORGANIZATIONS], "in_use");
  const { MIGRATION_DATABASE_URL: url = "" } = environment;
  const others = connect(`${url}&search_path=in_use`, { max: 2, name: "test" });
  after(() => others.end({ timeout: 1 }));
  const waited: string[] = [];
  let migrating: Promise<string[]> | undefined;
  await others.begin(async (writer) => {
    await writer`lock table organizations in row exclusive mode`;
    let onWait: (name: string) => void = () => undefined;
    const waits = new Promise<void>((resolve) => {
      onWait = (name) => {
        waited.push(name);
        resolve();
      };
    });
    migrating = migrate(db, { onWait, lockMs: 20, pauseMs: 20, tries: 10_000 });
    await waits;
    await anOrganization(others); // It does not wait long for the migration.
  });
  const [first, second] = (await migrating) ?? [];
  assert.deepEqual([first, second], ["0001_service.sql", SUBSCRIPTIONS]);
  assert.equal(waited.length, 1);
});

test("a migration whose tables stay in use fails with one line, and earlier migrations stay applied", async () => {
  const db = await aSchemaAfter([ORGANIZATIONS], "held");
  const { MIGRATION_DATABASE_URL: url = "" } = environment;
  const other = connect(`${url}&search_path=held`, { max: 1, name: "test" });
  after(() => other.end({ timeout: 1 }));
  await other.begin(async (writer) => {
    await writer`lock table organizations in row exclusive mode`;
    await assert.rejects(migrate(db, { lockMs: 20, pauseMs: 1, tries: 3 }), (error: Error) => {
      assert.match(
        error.message,
        /^\d{4}_\w+\.sql was not applied: other sessions use its tables.* run it again$/,
      );
      return true;
    });
  });
  assert.equal((await migrate(db))[0], SUBSCRIPTIONS);
});

test("each migration has a number of its own", async () => {
  const numbers = (await readdir(FOLDER)).map((name) => name.slice(0, 4));
  assert.deepEqual([...new Set(numbers)], numbers);
});
