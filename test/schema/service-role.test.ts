import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test, type TestContext } from "node:test";
import { createPartitions, dropExpiredPartitions } from "../../src/jobs/maintenance-sql.ts";
import { timeOrderedId } from "../../src/lib/ids.ts";
import type { Queryable } from "../../src/postgres/database.ts";
import { findExcess, findMissing, grantService } from "../../src/schema/rights.ts";
import { column } from "../support/columns.ts";
import { createDatabase, ownerOf } from "../support/database.ts";

const db = await createDatabase();
const owner = ownerOf(db);
const now = new Date();
await createPartitions(db, now);
await dropExpiredPartitions(db, now);
// Drops the partitions of the tests' own era.

const FORBIDDEN = "42501";

/** Another role, which is dropped after the test. */
async function aRole(t: TestContext): Promise<string> {
  const name = `test_${randomUUID().replaceAll("-", "")}`;
  await owner`create role ${owner(name)}`;
  t.after(async () => {
    await owner`drop owned by ${owner(name)}`;
    await owner`drop role ${owner(name)}`;
  });
  return name;
}

async function as(role: string, work: (tx: Queryable) => Promise<unknown>): Promise<void> {
  await owner.begin(async (tx) => {
    await tx`set local role ${tx(role)}`;
    await work(tx);
  });
}

async function countPartitions(): Promise<number> {
  return (await owner`select from history_partitions`).length;
}

/** The tables of the schema, partitions included, to which the service has a right. */
async function tablesWith(right: string): Promise<string[]> {
  const rows = await db<{ name: string }[]>`
    select relname as name from pg_class
     where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p', 'v')
       and has_table_privilege(oid, ${right})
     order by 1`;
  return rows.map((row) => row.name);
}

/** Statistics, and the reports of processes and bridges. None is a record of past events. */
const NO_RECORD = ["activity_hours", "activity_minutes", "bridges", "processes"];

test("the service can neither rewrite nor erase history, nor truncate a table", async () => {
  const recordsWith = async (right: string) =>
    (await tablesWith(right)).filter((name) => !NO_RECORD.includes(name));
  assert.deepEqual(await recordsWith("delete"), [
    "cancelled_leases",
    "dedupe_keys",
    "ended_sessions",
    "event_type_nodes",
    "kept_answers",
    "subscription_ceilings",
    "waiting_deliveries",
  ]);
  assert.deepEqual(await recordsWith("update"), ["rate_windows", "waiting_deliveries"]);
  for (const right of ["truncate", "references", "trigger"]) {
    assert.deepEqual(await tablesWith(right), [], right);
  }
});

test("the service cannot change columns that never change", async () => {
  const rows = await db<{ name: string }[]>`
    select c.relname || '.' || a.attname as name
      from pg_class c
      join pg_attribute a on a.attrelid = c.oid and a.attnum > 0
     where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p')
       and not has_table_privilege(c.oid, 'update') and has_column_privilege(c.oid, a.attnum, 'update')
     order by 1`;
  assert.deepEqual(column(rows, "name"), [
    "api_keys.last_used_at",
    "api_keys.revoked_at",
    "dedupe_keys.at",
    "dedupe_keys.event_id",
    "event_type_nodes.ended_at",
    "event_type_nodes.names",
    "event_type_nodes.seen_at",
    "event_types.retired_at",
    "finished_deliveries.attempts",
    "finished_deliveries.last_reason",
    "history_exports.failing_since",
    "history_exports.failures",
    "history_exports.last_failure",
    "history_exports.lease_id",
    "history_exports.next_at",
    "kept_answers.at",
    "kept_answers.request_hash",
    "kept_answers.sealed_answer",
    "kept_answers.subscription_id",
    "limit_notices.at",
    "organizations.closed_at",
    "organizations.rate_limit_per_minute",
    "readiness.writes",
    "redelivery_jobs.at_delivery",
    "redelivery_jobs.at_state",
    "redelivery_jobs.at_subscription",
    "redelivery_jobs.done",
    "redelivery_jobs.failed",
    "redelivery_jobs.finished_at",
    "redelivery_jobs.next_at",
    "redelivery_jobs.skipped",
    "redelivery_jobs.state",
    "redelivery_jobs.total",
    "redelivery_jobs.written_at",
    "subscription_ceilings.burst",
    "subscription_ceilings.full_at",
    "subscription_ceilings.held_at",
    "subscription_ceilings.max_per_second",
    "subscriptions.auto_disabled_at",
    "subscriptions.consecutive_failures",
    "subscriptions.deleted_at",
    "subscriptions.sealed_secret",
  ]);
});

test("the service may call only the owner's functions for partitions and for erasing data", async () => {
  const rows = await db<{ name: string }[]>`
    select proname as name from pg_proc
     where pronamespace = current_schema()::regnamespace and has_function_privilege(oid, 'execute')
     order by 1`;
  assert.deepEqual(column(rows, "name"), [
    "attempt_id",
    "create_partitions",
    "delete_expired_changes",
    "delete_expired_jobs",
    "delete_expired_leases",
    "delete_expired_marks",
    "delete_expired_reasons",
    "delete_expired_rows",
    "delivery_of",
    "detach_expired_partition",
    "drop_expired_partitions",
    "drop_exported_partition",
    "drop_rolled_up_minutes",
    "erase_payload",
    "event_of",
    "first_id_at",
    "is_redelivery",
    "lock_partitions",
    "moment_of",
    "move_strays",
    "partition_width",
    "permit_export",
    "record_late_successes",
    "retention",
    "second_of",
    "time_of",
  ]);
  await db`select create_partitions('events', ${now})`;
  await db`select move_strays('events')`;
  await db`select drop_expired_partitions('events', ${now})`;
  await db`select delete_expired_rows(${now})`;
});

for (const statement of [
  "drop table events",
  "alter table events add column more text",
  "alter function retention() owner to current_user",
  "create or replace function retention() returns interval language sql as $$ select interval '0' $$",
  "create table mine ()",
  "create schema mine",
  "truncate attempts",
  "delete from attempts",
  "delete from finished_deliveries_default",
  "delete from api_keys",
  "update subscriptions set url = 'https://elsewhere.example/'",
  "update subscriptions set organization_id = gen_random_uuid()",
  "update api_keys set secret_hash = sha256('mine')",
  "update finished_deliveries set finished_at = 'epoch'",
  "update settings set value = '1 day'",
  "delete from schema_migrations",
  "select expired_partitions('events', 'infinity')",
  "select create_partition('events', true, 'yesterday', 'today')",
]) {
  test(`the service's role is refused: ${statement}`, async () => {
    await assert.rejects(db.unsafe(statement), { code: FORBIDDEN });
  });
}

test("a caller's table cannot make the owner's functions drop young history", async () => {
  const before = await countPartitions();
  await db.begin(async (tx) => {
    await tx`create temporary table settings as select 'retention' as name, '-100 days' as value`;
    await tx`grant select on pg_temp.settings to public`;
    await tx`select drop_expired_partitions('events', ${now})`;
    await tx`drop table pg_temp.settings`;
  });
  assert.ok(before > 0);
  assert.equal(await countPartitions(), before);
});

test("without a stored retention nothing is dropped", async () => {
  const at = new Date(now.getTime() - 60_000);
  const id = timeOrderedId(at);
  await db`insert into events (id, organization_number, type, occurred_at, data)
           values (${timeOrderedId(new Date(0))}, 1, 'vc.test.ping', ${at}, '{}')`;
  await db`insert into waiting_deliveries (id, event_id, subscription_id, organization_id, due_at)
           values (${id}, ${id}, ${randomUUID()}, ${randomUUID()}, ${at})`;
  const before = await countPartitions();
  const dropped = owner.begin(async (tx) => {
    await tx`delete from settings`;
    await tx`select drop_expired_partitions('events', ${now})`;
  });
  await assert.rejects(dropped, /how long history is kept/);
  assert.equal(await countPartitions(), before);
});

test("additional rights of the service's role are revoked", async (t) => {
  const role = await aRole(t);
  await owner`grant all on all tables in schema public to ${owner(role)}`;
  await grantService(owner, role);
  await assert.rejects(
    as(role, (tx) => tx`delete from attempts`),
    { code: FORBIDDEN },
  );
});

test("each missing right of a role is named, and none once it is granted", async (t) => {
  const role = await aRole(t);
  const all = await findMissing(owner, role);
  for (const right of [
    "delete on waiting_deliveries",
    "execute on function create_partitions",
    "insert on events",
    "select on schema_migrations",
    "update (last_used_at) on api_keys",
    "update (revoked_at) on api_keys",
  ]) {
    assert.ok(all.includes(right), right);
  }

  await grantService(owner, role);
  assert.deepEqual(await findMissing(owner, role), []);

  await owner`revoke update (revoked_at) on api_keys from ${owner(role)}`;
  await owner`revoke insert on events from ${owner(role)}`;
  await owner`revoke execute on function create_partitions from ${owner(role)}`;
  assert.deepEqual(await findMissing(owner, role), [
    "execute on function create_partitions",
    "insert on events",
    "update (revoked_at) on api_keys",
  ]);
});

test("the schema's owner lacks no right", async () => {
  assert.deepEqual(await findMissing(owner, owner.options.user), []);
});

test("a role that could become the owner is detected", async (t) => {
  const [role, schema] = [await aRole(t), owner("public")];
  assert.equal(await findExcess(owner, role), null);
  await owner`grant create on schema ${schema} to ${owner(role)}`;
  assert.equal(await findExcess(owner, role), "create");
  await owner`grant ${owner(owner.options.user)} to ${owner(role)}`;
  assert.equal(await findExcess(owner, role), "owner");
});

test("foreign objects in the schema are ignored", async (t) => {
  const other = await aRole(t);
  await owner`create table theirs ()`;
  await owner`alter table theirs owner to ${owner(other)}`;
  await owner`create function theirs() returns integer language sql as 'select 1'`;

  await grantService(owner, db.options.user);
  await assert.rejects(db`select from theirs`, { code: FORBIDDEN });
  await as(other, (tx) => tx`select theirs()`);
  await owner`drop function theirs`;
});

test("processes that start at once can all grant the service its rights", async (t) => {
  const role = await aRole(t);
  await Promise.all(Array.from({ length: 8 }, () => grantService(owner, role)));
});
