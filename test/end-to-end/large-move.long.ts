import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import type { Database } from "../../src/postgres/database.ts";
import { run, runProgram, startProgram } from "../support/program.ts";
import { aService, arrived, publishSteadily } from "../support/shard-move.ts";

/** How many delivered events of the present day the shard has. A million take about a gigabyte. */
const EVENTS = Number(process.env["MOVED_EVENTS"] ?? 1_000_000);

test("a large shard moves under load: a move that is killed half way changes nothing, and writers wait for the last rows only", async (t) => {
  const { program, old, receiver, second, at, move, rig } = await aService(t);
  await fill(old);
  const { ids, accepted, goOnAt, stop } = publishSteadily(program);

  const killed = run(move, rig);
  t.after(() => killed.kill("SIGKILL"));
  const exited = once(killed, "exit");
  await untilHalfIsCopied(old);
  killed.kill("SIGKILL");
  await exited;
  const before = accepted.all.length;
  await accepted.until((all) => all[before + 19]);

  const began = performance.now();
  const { status, stdout, stderr } = await runProgram(move, rig);
  assert.equal(status, 0, stderr);
  const seconds = Math.round((performance.now() - began) / 1_000);
  goOnAt(await startProgram(t, at(second.url)));
  const then = accepted.all.length;
  await accepted.until((all) => all[then + 19]);
  await stop();
  const twice = await arrived(receiver, ids);
  const [{ events }] = await second.db<[{ events: string }]>`
    select count(*)::text as events from events where type = 'order.created'`;
  assert.equal(events, String(ids.size), "each key was published once");

  const [{ size }] = await old<[{ size: string }]>`
    select pg_size_pretty(sum(pg_total_relation_size(oid))) as size from pg_class
     where relnamespace = current_schema()::regnamespace and relkind = 'r'`;
  const { waited_ms, rows } = JSON.parse(stdout) as { waited_ms: number; rows: number };
  t.diagnostic(
    `${size}, ${rows} rows, ${ids.size} events published meanwhile, ${twice} arrived twice`,
  );
  t.diagnostic(`the move took ${seconds} s, and writers waited ${waited_ms} ms`);
});

/** Adds delivered events of the last minute, with data that PostgreSQL does not compress. */
async function fill(db: Database): Promise<void> {
  const [{ subscription, organization }] = await db<
    [{ subscription: string; organization: string }]
  >`select id as subscription, organization_id as organization from subscriptions`;
  await db.within(600_000).begin(async (tx) => {
    await tx`set local statement_timeout = 0`;
    await tx`
      create temporary table filled on commit drop as
      select overlay(gen_random_uuid()::text placing left(first_id_at(at)::text, 14) from 1)::uuid as id, at
        from generate_series(1, ${EVENTS}::int) as n, lateral (
               select ${new Date()}::timestamptz - n * interval '1 minute' / ${EVENTS}::int as at) as moment`;
    await tx`
      insert into events (id, organization_id, type, occurred_at, data)
      select id, ${organization}::uuid, 'filled', at,
             (select '"' || string_agg(md5(id::text || part), '') || '"' from generate_series(1, 16) as part)
        from filled`;
    await tx`
      insert into finished_deliveries
             (id, event_id, subscription_id, organization_id, created_at, finished_at, state, attempts,
              success_id, success_http_status, success_duration_ms)
      select id, id, ${subscription}::uuid, ${organization}::uuid, at, at, 'delivered', 1, id, 204, 5 from filled`;
  });
}

async function untilHalfIsCopied(db: Database): Promise<void> {
  for (let copied = 0; copied < EVENTS / 2;) {
    const [row] = await db`
      select tuples_processed::int as copied from pg_stat_progress_copy
       where datname = current_database() order by 1 desc limit 1`;
    copied = Number(row?.["copied"] ?? 0);
  }
}
