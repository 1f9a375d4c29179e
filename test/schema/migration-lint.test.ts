import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { ROOT } from "../support/root.ts";
import { lintMigration } from "./lint-migration.ts";

const FOLDER = join(ROOT, "src/postgres/migrations");
const RELEASES = ["1.0.0"];

const REFUSED: [statement: string, why: RegExp][] = [
  ["create index i on events (type)", /events: CREATE INDEX holds up writes/],
  ["alter table events alter column type type varchar(100)", /rewrites the table/],
  ["alter table events add column id2 uuid default gen_random_uuid()", /computed for each row/],
  ["alter table events add column a text not null", /breaks the inserts/],
  ["alter table events add column a text check (length(a) < 9)", /CHECK of a new column reads/],
  [
    "alter table events add column a bigserial; alter table events add column b int generated always as (1) stored",
    /CONSTR_GENERATED/,
  ],
  ["alter table events add check (length(type) < 90)", /add it NOT VALID/],
  ["alter table events add unique (id)", /add it NOT VALID, or on an index/],
  ["alter table events alter column type set not null", /reads the table under a lock/],
  ["alter table events validate constraint c; select 1", /file of its own/],
  ["alter table events set tablespace fast", /AT_SetTableSpace is not on the list/],
  ["alter table events drop column type", /a release after the last use/],
  ["-- unused since 9.0.0\nalter table events drop column type", /a release after the last use/],
  ["drop table attempts", /OBJECT_TABLE is dropped a release after/],
  ["drop function moment_of(uuid)", /OBJECT_FUNCTION is dropped/],
  ["alter table events rename column type to kind", /uses the old name/],
  ["update subscriptions set host = null", /in batches/],
  ["delete from attempts", /in batches/],
  ["insert into attempts select * from attempts", /in batches/],
  ["create table p partition of events default", /locks it/],
  ["do $$ begin update events set type = 'a'; end $$", /DO may do anything/],
  ["truncate attempts", /TruncateStmt is not on the list/],
  ["lock table events", /LockStmt is not on the list/],
  ["cluster events using events_pkey", /is not on the list/],
];

for (const [statement, why] of REFUSED) {
  test(`a migration may not: ${statement}`, async () => {
    assert.match((await lintMigration(statement, RELEASES)).join("\n"), why);
  });
}

test("a migration may create new tables, and make changes that need no long lock", async () => {
  const allowed = `
    create table reports (id uuid primary key, at timestamptz not null, note text);
    create index reports_by_time on reports (at);
    alter table reports add check (length(note) < 9);
    insert into reports select gen_random_uuid(), now(), null;
    insert into settings (name, value) values ('a', 'b');
    update settings set value = 'c' where name = 'a';
    alter table events add column region text, add column weight smallint not null default 1::smallint;
    alter table events add constraint region_length check (length(region) < 9) not valid;
    alter table events alter column region set default 'eu', alter column region drop not null;
    alter table waiting_deliveries set (fillfactor = 60);
    create or replace function f() returns int language sql as 'select 1';
    create or replace view v as select 1 as one;
    do $$
    begin
      execute format('alter function f set search_path = %I, pg_temp', current_schema());
    end
    $$;
    revoke execute on function f from public;
    drop index failures_of_subscription;
    -- unused since 1.0.0
    drop function g(int)`;
  assert.deepEqual(await lintMigration(allowed, RELEASES), []);
  assert.deepEqual(
    await lintMigration("alter table events validate constraint region_length", []),
    [],
  );
});

test("a fault names its line", async () => {
  const faults = await lintMigration("-- One.\nselect 1;\n\n-- Two.\ntruncate attempts;", []);
  assert.deepEqual(
    faults.map((fault) => fault.split(":")[0]),
    ["line 2", "line 5"],
  );
});

test("no migration locks or rewrites a large table, or breaks the previous release", async () => {
  const { releases } = JSON.parse(await readFile(join(ROOT, "releases.json"), "utf8")) as {
    releases: { version: string }[];
  };
  const names = await readdir(FOLDER);
  assert.ok(names.length > 0);
  for (const name of names) {
    const sql = await readFile(join(FOLDER, name), "utf8");
    const faults = await lintMigration(
      sql,
      releases.map(({ version }) => version),
    );
    assert.deepEqual(faults, [], name);
  }
});
