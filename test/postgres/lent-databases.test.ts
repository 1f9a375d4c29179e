import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { createPartitions } from "../../src/jobs/maintenance-sql.ts";
import type { Database } from "../../src/postgres/database.ts";
import { ERA } from "../support/clock.ts";
import { createDatabase, environmentOf, openPool, ownerOf } from "../support/database.ts";
import { stateOf } from "../support/lent-databases.ts";

// Runs alone: it expects the database that it has just returned.

/** Lends a database to `use`, and then one to `look`. Returns true if it is the same one. */
async function isLentAgain(
  t: TestContext,
  use: (db: Database) => Promise<unknown>,
  look: (db: Database) => Promise<void> = () => Promise.resolve(),
): Promise<boolean> {
  const names: unknown[] = [];
  for (const work of [use, look]) {
    await t.test(work.name, async () => {
      const db = await createDatabase();
      names.push(db.options.database);
      await work(db);
    });
  }
  return names[0] === names[1];
}

test("a database that is lent again has the rows and partitions of a new one, and no sessions", async (t) => {
  const fresh = await stateOf(ownerOf(await createDatabase()));
  const again = await isLentAgain(
    t,
    async function use(db) {
      await ownerOf(db)`insert into organizations (id, slug, rate_limit_per_minute, created_at)
                        values (${ORGANIZATION}, 'acme', 1, ${ERA})`;
      await ownerOf(db)`update settings set value = '7 days' where name = 'retention'`;
      await createPartitions(ownerOf(db), new Date("2030-01-01"));
      const dropped = fresh.tables.find((name) => /^attempts_\d/.test(name)) ?? "";
      await ownerOf(db).unsafe(`drop table ${dropped}`);
      await openPool(t, environmentOf(db)["DATABASE_URL"] ?? "")`select 'a session that stays'`;
    },
    async function look(db) {
      const { rows, tables } = await stateOf(ownerOf(db));
      assert.deepEqual(rows, fresh.rows);
      assert.deepEqual(tables.toSorted(), fresh.tables.toSorted());
      const sessions = await ownerOf(db)`
        select from pg_stat_activity where query like '%a session that stays%' and pid <> pg_backend_pid()`;
      assert.equal(sessions.length, 0);
    },
  );
  assert.ok(again);
});

const ORGANIZATION = "00000000-0000-4000-8000-000000000001";

const CHANGES: Record<string, (db: Database) => Promise<unknown>> = {
  "a setting of its role": (db) =>
    ownerOf(db)`alter role ${ownerOf(db)(db.options.user)} connection limit 3`.execute(),
  "a setting of the database": (db) =>
    ownerOf(db)`alter database ${ownerOf(db)(db.options.database)} set work_mem = '5MB'`.execute(),
  "a right": (db) =>
    ownerOf(db)`revoke insert on events from ${ownerOf(db)(db.options.user)}`.execute(),
  "a trigger": (db) =>
    ownerOf(db).unsafe(
      "create trigger t before update on slugs for each row execute function suppress_redundant_updates_trigger()",
    ),
  "a column": (db) => ownerOf(db)`alter table slugs add extra text`.execute(),
  "an index": (db) => ownerOf(db)`create index on slugs (cell)`.execute(),
  "a function": (db) =>
    ownerOf(db).unsafe("create function f() returns int language sql as 'select 1'"),
};

for (const [what, change] of Object.entries(CHANGES)) {
  test(`a database in which a test has changed ${what} is not lent again`, async (t) => {
    assert.equal(await isLentAgain(t, change), false);
  });
}
