// Depends on: src

import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { type Database, isDeadlock } from "../../src/postgres/database.ts";
import { migrate } from "../../src/postgres/migrate.ts";
import { lockArrival, lockWaits, stopWriters } from "../../src/postgres/moves/guards.ts";
import { findMarks } from "../../src/postgres/moves/marks.ts";
import { writeShard } from "../../src/postgres/shard-name.ts";
import { createDatabase, environmentOf, openPool, ownerOf } from "../support/database.ts";
import { type Program, run, runProgram, startProgram } from "../support/program.ts";
import { startLocalReceiver } from "../support/receiver.ts";
import { call, partnerOf } from "../support/rig.ts";
import { aSecondServer } from "../support/second-server.ts";
import { aPartnerIn, aShardedRig, operatorOf } from "../support/shards.ts";
import { untilBlocked } from "../support/until-blocked.ts";
import {
  aService,
  arrived,
  hold,
  publish,
  publishSteadily,
  untilHeld,
} from "../support/shard-move.ts";

test("a shard moves under load: nothing is lost, the old place refuses, and the new place takes over", async (t) => {
  const { program, receiver, second, at, move, rig, token } = await aService(t);
  const { ids, accepted, refused, goOnAt, stop } = publishSteadily(program);
  await accepted.until((all) => all[19]);
  const { status, stdout, stderr } = await runProgram(move, rig);
  assert.equal(status, 0, stderr);
  assert.equal((await publish(program, "after-the-move")).status, 503);
  await refused.until((all) => all[0]);

  const me = (of: Program) => call(`${of.partnerUrl}/api/v1/partner/me`, { token });
  assert.equal((await me(program)).status, 503);
  const again = await runProgram(["org", "list"], rig);
  assert.match(again.stderr, /shard 00 has moved to /);
  const where = await startProgram(t, at(second.url));
  goOnAt(where);
  const before = accepted.all.length;
  await accepted.until((all) => all[before + 19]);
  await stop();
  assert.equal((await me(where)).status, 200);

  const twice = await arrived(receiver, ids);
  const [{ events }] = await second.db<[{ events: string }]>`
    select count(*)::text as events from events where type = 'order.created'`;
  assert.equal(events, String(ids.size), "each key was published once");
  const moved = JSON.parse(stdout) as { waited_ms: number; rows: number };
  t.diagnostic(`${ids.size} events, ${twice} arrived twice, writers waited ${moved.waited_ms} ms`);
});

test("one of two shards moves, and the organizations of the other notice nothing", async (t) => {
  const { rig } = await aShardedRig(t, ["00", "01"]);
  const program = await startProgram(t, rig);
  const receiver = await startLocalReceiver(t);
  const [stays, moves] = [
    await aPartnerIn(program, "00", "stays"),
    await aPartnerIn(program, "01", "moves"),
  ];
  const subscriptions = [
    await stays.subscribe(receiver.url("/stays")),
    await moves.subscribe(receiver.url("/moves")),
  ] as const;
  const second = await aSecondServer(t);
  const moving = runProgram(["shard", "move", "01", "--to", second.url], rig);
  let isMoving = true;
  void moving.finally(() => (isMoving = false));
  const isOver = () => !isMoving;
  while (!isOver()) assert.equal((await stays.ping(subscriptions[0])).status, 200);
  const { status, stderr } = await moving;
  assert.equal(status, 0, stderr);
  assert.equal((await moves.ping(subscriptions[1])).status, 503);
  assert.equal((await stays.ping(subscriptions[0])).status, 200);

  const placed = (urls = "") => urls.replace(/01=\S+/, `01=${second.url}`);
  const { SHARDS, MIGRATION_DATABASE_URL } = rig;
  const next = await startProgram(t, {
    ...rig,
    SHARDS: placed(SHARDS),
    MIGRATION_DATABASE_URL: placed(MIGRATION_DATABASE_URL),
  });
  assert.equal((await partnerOf(next, moves.token).ping(subscriptions[1])).status, 200);
  assert.equal((await partnerOf(next, stays.token).ping(subscriptions[0])).status, 200);
});

/** Resolves once the server has noticed the end of this program's sessions. */
async function untilGone(db: Database, program: string): Promise<void> {
  for (let sessions = 1; sessions > 0;) {
    const rows = await db`
      select from pg_stat_activity where datname = current_database() and application_name = ${program}`;
    sessions = rows.length;
  }
}

for (const signal of ["SIGKILL", "SIGINT"] as const) {
  test(`a move that is ended half way by ${signal} leaves the old place in force, and a second move succeeds`, async (t) => {
    const { old, program, receiver, second, at, move, rig } = await aService(t);
    await hold(second.db, "organizations");
    const child = run(move, rig);
    t.after(() => child.kill("SIGKILL"));
    const exited = once(child, "exit");
    await untilHeld(second.db);
    const early = await runProgram(["org", "list"], at(second.url));
    assert.match(early.stderr, /a move to this schema has not ended/);
    child.kill(signal);
    await exited;

    const ids = new Set<string>();
    const accept = async (key: string, by: Program) => {
      let answer = await publish(by, key);
      while (answer.status === 503) answer = await publish(by, key);
      assert.ok(answer.status < 300, JSON.stringify(answer.body));
      ids.add(String(answer.body["event_id"]));
    };
    await untilGone(old, "partner-api shard move");
    const noted = async () => [...(await old`select count(*)::int as rows from moved_rows`)];
    const before = await noted();
    for (let i = 0; i < 5; i++) await accept(`k-${i}`, program);
    await arrived(receiver, ids);
    assert.deepEqual(await noted(), before, "nothing is noted without a move");

    await second.db`drop function hold cascade`;
    const { status, stderr } = await runProgram(move, rig);
    assert.equal(status, 0, stderr);
    const next = await startProgram(t, at(second.url));
    await accept("k-0", next);
    assert.equal(ids.size, 5, "the dedupe key has moved, too");
  });
}

test("a difference at the new place stops the move, and the shard stays", async (t) => {
  const { program, second, move, rig } = await aService(t);
  await migrate(second.db);
  await second.db.unsafe(`
    create function spoil() returns trigger language plpgsql as
      $$ begin new.consecutive_failures := new.consecutive_failures + 1; return new; end $$;
    create trigger spoil before insert on subscriptions for each row execute function spoil()`);
  const { status, stderr } = await runProgram(move, rig);
  assert.equal(status, 1);
  assert.match(
    stderr,
    /subscriptions differs at the new place: 1 rows .* The shard stays where it was/,
  );
  assert.equal((await publish(program, "k")).status < 300, true);
});

test("a move does not empty the copy of another move, even if that waits for its completion", async (t) => {
  const { old, second, at, move, rig } = await aService(t);
  assert.equal((await runProgram(move, rig)).status, 0);
  // The state of a move that ended before its last statement.
  const [mark] = await old<[{ value: string }]>`select value from settings where name = 'moved'`;
  await second.db`insert into settings (name, value) values ('arriving', ${mark.value})`;

  const other = { ...rig, ...environmentOf(await createDatabase({ max: 1 })) };
  const { stderr } = await runProgram(move, other);
  assert.match(stderr, /a move of shard 00 .* has not ended, and .* its only valid copy/);
  assert.equal((await runProgram(move, rig)).status, 0, "the move is completed");
  assert.match((await runProgram(["org", "list"], at(second.url))).stdout, /acme/);
});

test("a move to a schema that another move fills is refused", async (t) => {
  const { second, move, rig } = await aService(t);
  assert.ok(await lockArrival(second.db));
  assert.match(
    (await runProgram(move, rig)).stderr,
    /another move to the schema of --to is running/,
  );
});

test("the last attempts to stop writers wait longer than PostgreSQL's deadlock timeout", async () => {
  const owner = ownerOf(await createDatabase({ max: 1 }));
  const waitMs = (await lockWaits(owner)).at(-1) ?? 0;
  const failures: unknown[] = [];
  const note = (error: unknown) => void failures.push(error);
  const holding = owner.begin(async (holder) => {
    await holder`lock table waiting_deliveries in row exclusive mode`;
    const stopping = owner.begin((mover) => stopWriters(mover, waitMs)).catch(note);
    await untilBlocked(owner);
    await holder`lock table attempts in row exclusive mode`;
    await stopping;
  });
  await holding.catch(note);
  assert.equal(failures.length, 1);
  assert.ok(isDeadlock(failures[0]), String(failures[0]));
});

test("a service that starts at the new place while a move to it begins keeps the place", async (t) => {
  const { second, move, rig } = await aService(t);
  const early = openPool(t, second.url, { name: "test early" });
  const lock = "hashtext('partner-api migrations of ' || current_schema())";
  await early.unsafe(`select pg_advisory_lock(${lock})`);
  const moved = runProgram(move, rig);
  await untilBlocked(second.db);
  await migrate(early);
  await writeShard(early, { shard: "00", home: "00" });
  await early`
    insert into organizations (id, slug, rate_limit_per_minute, created_at)
    values (gen_random_uuid(), 'early', 60, now())`;
  await early.unsafe(`select pg_advisory_unlock(${lock})`);

  const { status, stderr } = await moved;
  assert.equal(status, 1);
  assert.match(stderr, /holds a shard: name an empty one/);
  assert.equal((await early`select from organizations`).length, 1);
  assert.equal((await findMarks(early)).arriving, null);
});

test("a new place is marked with its first migration, so that no service starts there", async (t) => {
  const { second, at, move, rig } = await aService(t);
  await second.db`create table operator_changes ()`; // A later migration fails.
  const { status, stderr } = await runProgram(move, rig);
  assert.equal(status, 1);
  assert.match(stderr, /operator_changes/);
  const early = await runProgram(["org", "list"], at(second.url));
  assert.match(early.stderr, /a move to this schema has not ended/);
});

test("after a move, the log and the overview of an old process name the new place", async (t) => {
  const { program, second, move, rig } = await aService(t);
  assert.equal((await runProgram(move, rig)).status, 0);
  const { host, pathname } = new URL(second.url);
  const moved = `the shard has moved to postgres://${host}${pathname}`;
  assert.equal((await publish(program, "k")).status, 503);
  const ask = operatorOf(program);
  const isLogged = () =>
    program.log.some(({ err }) => (err as Error | undefined)?.message === moved);
  for (let problems = ""; !problems.includes(moved) || !isLogged();) {
    problems = JSON.stringify((await ask("/overview")).body["problems"]);
  }
});

test("a move is refused to a schema with a shard, and for an unknown shard", async (t) => {
  const { move, rig } = await aService(t);
  const { MIGRATION_DATABASE_URL: same = "" } = rig as Record<string, string>;
  const onto = await runProgram([...move.slice(0, 4), same], rig);
  assert.match(onto.stderr, /holds a shard: name an empty one/);
  const unknown = await runProgram(["shard", "move", "zz", "--to", same], rig);
  assert.match(unknown.stderr, /there is no shard zz/);
});
