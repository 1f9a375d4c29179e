import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { type TestContext, test } from "node:test";
import type { Queryable } from "../../src/postgres/database.ts";
import { grantService } from "../../src/postgres/migrate.ts";
import { createPartitions } from "../../src/postgres/partitions.ts";
import { createDatabase } from "../support/database.ts";

const db = await createDatabase();
await createPartitions(db, new Date());

const FORBIDDEN = "42501";

/** A role that owns nothing, gone after the test. */
async function aRole(t: TestContext): Promise<string> {
  const name = `test_${randomUUID().replaceAll("-", "")}`;
  await db`create role ${db(name)}`;
  t.after(async () => {
    await db`drop owned by ${db(name)}`;
    await db`drop role ${db(name)}`;
  });
  return name;
}

/** A role as the service has one beside its schema's owner. */
async function aServiceRole(t: TestContext): Promise<string> {
  const role = await aRole(t);
  await grantService(db, role);
  return role;
}

async function as<Result>(
  role: string,
  work: (tx: Queryable) => Promise<Result>,
): Promise<Result | undefined> {
  let result: Result | undefined;
  await db.begin(async (tx) => {
    await tx`set local role ${tx(role)}`;
    result = await work(tx);
  });
  return result;
}

async function countPartitions(): Promise<number> {
  return (await db`select from history_partitions`).length;
}

test("the service's role writes rows and has partitions made, and changes nothing else", async (t) => {
  const role = await aServiceRole(t);
  await as(role, async (tx) => {
    await tx`select create_partitions(${new Date()})`;
    await tx`select drop_expired_partitions(${new Date()})`;
    await tx`insert into rate_windows values (${randomUUID()}, '-infinity', 0)`;
    await tx`delete from rate_windows`;
    await tx`select from settings, schema_migrations`;
  });

  for (const statement of [
    "drop table events",
    "alter table events add column more text",
    "truncate attempts",
    "update settings set value = '1 day'",
    "delete from schema_migrations",
    "select drop_partitions_until('events', 'infinity')",
    "select create_partition('events', true, 'yesterday', 'today')",
  ]) {
    await assert.rejects(
      as(role, (tx) => tx.unsafe(statement)),
      { code: FORBIDDEN },
      statement,
    );
  }
});

test("no table of the caller's own talks the owner's functions into dropping young history", async (t) => {
  const role = await aServiceRole(t);
  const before = await countPartitions();
  await as(role, async (tx) => {
    await tx`create temporary table settings as select 'retention' as name, '-100 days' as value`;
    await tx`grant select on pg_temp.settings to public`;
    await tx`select drop_expired_partitions(${new Date()})`;
  });
  assert.ok(before > 0);
  assert.equal(await countPartitions(), before);
});

test("what others keep in the schema is not the service's business", async (t) => {
  const other = await aRole(t);
  await db`create table theirs ()`;
  await db`alter table theirs owner to ${db(other)}`;
  await db`create function theirs() returns integer language sql as 'select 1'`;

  const role = await aServiceRole(t);
  await assert.rejects(
    as(role, (tx) => tx`select from theirs`),
    { code: FORBIDDEN },
  );
  await as(other, (tx) => tx`select theirs()`);
  await db`drop function theirs`;
});

test("processes that start at once may all grant the service its rights", async (t) => {
  const role = await aRole(t);
  await Promise.all(Array.from({ length: 8 }, () => grantService(db, role)));
});
