// Depends on: src

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { Database } from "../../src/postgres/database.ts";
import { createPartitions } from "../../src/postgres/partitions.ts";
import { openPool } from "../support/database.ts";
import { type Program, run, runProgram, startProgram } from "../support/program.ts";
import { aService, hold, publish, untilHeld } from "../support/shard-move.ts";
import { untilBlocked } from "../support/until-blocked.ts";

/** Publishes an event, and creates one that is five days old. Returns its time. */
async function aPastEvent(old: Database, program: Program): Promise<Date> {
  const past = new Date(Date.now() - 5 * 86_400_000);
  assert.ok((await publish(program, "k")).status < 300);
  await createPartitions(old, past);
  await old`
    insert into events
    select (e2).* from (select jsonb_populate_record(e, jsonb_build_object('id', first_id_at(${past}))) as e2
                          from events e where type = 'order.created' limit 1) as one`;
  return past;
}

test("a process starts while history is copied", async (t) => {
  const { old, program, second, move, rig } = await aService(t);
  await aPastEvent(old, program);
  await hold(second.db, "events");
  const child = run(move, rig);
  t.after(() => child.kill("SIGKILL"));
  await untilHeld(second.db);
  await startProgram(t, rig);
});

/** Runs a move, and calls `change` after it has copied in service and before it stops the writers. */
async function moveAround(
  t: TestContext,
  { old, move, rig }: Pick<Awaited<ReturnType<typeof aService>>, "old" | "move" | "rig">,
  change: () => Promise<unknown>,
): Promise<void> {
  const { MIGRATION_DATABASE_URL: owners = "" } = rig as Record<string, string>;
  const held = openPool(t, owners);
  const moving = held.begin(async (tx) => {
    await tx`set local idle_in_transaction_session_timeout = 0`;
    await tx`lock table organizations in row exclusive mode`;
    const moved = runProgram(move, rig);
    await untilBlocked(old, "lock table %");
    await change();
    return { moved };
  });
  const { status, stderr } = await (await moving).moved;
  assert.equal(status, 0, stderr);
}

test("history that changes after it was copied is copied again", async (t) => {
  const service = await aService(t);
  const { old, program, second } = service;
  const past = await aPastEvent(old, program);
  await moveAround(t, service, async () => {
    await old`update events set type = 'note.added' where id = first_id_at(${past})`;
  });
  const rows = await second.db`select type from events where id = first_id_at(${past})`;
  assert.deepEqual([...rows], [{ type: "note.added" }]);
});

test("before writers wait, the present day is copied, and then only the rows that have changed since", async (t) => {
  const service = await aService(t);
  const { old, program, second } = service;
  const publishing = async (key: string) => {
    const { status, body } = await publish(program, key);
    assert.ok(status < 300);
    return String(body["event_id"]).replace("evt_", "");
  };
  const early = await publishing("early");
  const late: string[] = [];
  await moveAround(t, service, async () => {
    const copied = await second.db`select id from events where type = 'order.created'`;
    assert.deepEqual([...copied], [{ id: early }]);
    // A row that nobody notes: it is there at the end unless the partition is copied as a whole.
    await second.db`update events set type = 'kept' where id = ${early}`;
    late.push(await publishing("late"), await publishing("later"));
    await old`delete from dedupe_keys where key = 'early'`;
  });
  const events = await second.db`
    select id, type from events where type in ('kept', 'order.created') order by id`;
  const added = late.sort().map((id) => ({ id, type: "order.created" }));
  assert.deepEqual([...events], [{ id: early, type: "kept" }, ...added]);
  const keys = await second.db`select key from dedupe_keys order by key`;
  assert.deepEqual([...keys], [{ key: "late" }, { key: "later" }]);
});

test("history that is dropped and made anew during a move is copied again", async (t) => {
  const service = await aService(t);
  const { old, program, second } = service;
  const past = await aPastEvent(old, program);
  await moveAround(t, service, async () => {
    await old.begin(async (tx) => {
      const [{ part }] = await tx<[{ part: string }]>`
        select tableoid::regclass::text as part from events where id = first_id_at(${past})`;
      await tx`create temporary table kept on commit drop as select * from events where id = first_id_at(${past})`;
      await tx.unsafe(`drop table ${part}`);
      await tx`select create_partitions('events', ${past})`;
      await tx`insert into events select * from kept`;
      await tx`update events set type = 'note.added' where id = first_id_at(${past})`;
      const [anew] = await tx`
        select tableoid::regclass::text as part from events where id = first_id_at(${past})`;
      assert.equal(anew?.["part"], part, "the same name");
    });
  });
  const rows = await second.db`select type from events where id = first_id_at(${past})`;
  assert.deepEqual([...rows], [{ type: "note.added" }]);
});
