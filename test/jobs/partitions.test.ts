import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { createPartitions, dropExpiredPartitions } from "../../src/jobs/maintenance-sql.ts";
import { lastDeliveryOf, numberedId } from "../../src/lib/ids.ts";
import type { Queryable } from "../../src/postgres/database.ts";
import { writeRetention } from "../../src/schema/migrate.ts";
import { createDatabase, ownerOf } from "../support/database.ts";

const DAY_MS = 86_400_000;
/** The number of history tables. */
const TABLES = 5;
const db = await createDatabase();
const owner = ownerOf(db);
const today = new Date();
await dropExpiredPartitions(db, today);
// Drops the partitions of the tests' own era.
await createPartitions(db, today);

const daysAgo = (days: number) => new Date(today.getTime() - days * DAY_MS);

/** Creates the partitions of every history table for one day in the past, as of that day. */
async function aDay(daysBack: number): Promise<void> {
  const since = new Date(Math.floor(daysAgo(daysBack).getTime() / DAY_MS) * DAY_MS);
  const until = new Date(since.getTime() + DAY_MS);
  await owner`select create_partition(relation, keyed_by_id, ${since}, ${until}) from history`;
}

/** An event of that day and its delivery, which finished on that day or still waits. */
async function anEvent(daysBack: number, state: "delivered" | "waiting"): Promise<string> {
  const at = daysAgo(daysBack);
  const id = numberedId(at);
  await db`insert into events (id, organization_number, type, occurred_at, data)
           values (${id}, 1, 'vc.test.ping', ${at}, '{}')`;
  const delivery = { id: lastDeliveryOf(id) };
  if (state === "waiting") {
    const owner = { subscription_id: randomUUID(), organization_id: randomUUID() };
    const waiting = { event_id: id, ...owner, due_at: at };
    await db`insert into waiting_deliveries ${db({ ...delivery, ...waiting })}`;
  } else {
    const success = {
      finished_at: at,
      subscription_number: 1,
      ending: 200,
      attempts: 1,
      duration_ms: 1,
    };
    await db`insert into finished_deliveries ${db({ ...delivery, ...success })}`;
  }
  return id;
}

/** A delivery of this event that was created today and waits. */
async function aRedelivery(tx: Queryable, eventId: string, at = today) {
  const row = { id: numberedId(at) };
  const waiting = {
    subscription_id: randomUUID(),
    organization_id: randomUUID(),
    event_id: eventId,
    due_at: at,
  };
  await tx`insert into waiting_deliveries ${tx({ ...row, ...waiting })}`;
  const mark = { redelivery_id: row.id, delivery_id: lastDeliveryOf(eventId), event_id: eventId };
  await tx`insert into redelivery_marks ${tx(mark)}`;
  return row;
}

async function untilSomebodyWaits(): Promise<void> {
  for (;;) {
    const [row] = await owner`select exists (select from pg_locks where not granted) as waits`;
    if (row?.["waits"] === true) return;
    await sleep(5);
  }
}

/** All partitions except those of minutes, which are also dropped after merging into hours. */
async function names(): Promise<string[]> {
  const rows = await owner<{ name: string }[]>`
    select partition::text as name from history_partitions
     where relation <> 'activity_minutes'::regclass order by 1`;
  return rows.map((row) => row.name);
}

async function exists(eventId: string): Promise<boolean> {
  return (await db`select from events where id = ${eventId}`).length === 1;
}

test("partitions older than the retention are dropped, and younger ones stay", async () => {
  await aDay(40);
  await aDay(20);
  const old = await anEvent(40, "delivered");
  const young = await anEvent(20, "delivered");
  const before = await names();

  assert.equal(await dropExpiredPartitions(db, today), TABLES);
  assert.equal((await names()).length, before.length - (TABLES - 1));
  assert.equal(await exists(old), false);
  assert.equal(await exists(young), true);
});

test("nothing younger than the retention is dropped, even if the caller passes a later time", async () => {
  const young = await anEvent(20, "delivered");
  assert.equal(await dropExpiredPartitions(db, new Date(today.getTime() + 3650 * DAY_MS)), 0);
  assert.equal(await exists(young), true);
});

const later = new Date(today);
for (const [first, ...rest] of [
  ["events", "waiting_deliveries", "finished_deliveries", "attempts"],
  ["attempts", "waiting_deliveries", "finished_deliveries", "events"],
  ["finished_deliveries", "waiting_deliveries", "attempts", "events"],
] as const) {
  test(`a statement that writes ${first} first deadlocks neither with dropping partitions nor with creating them`, async () => {
    await aDay(41);
    later.setTime(later.getTime() + 3 * DAY_MS);
    for (const work of [
      async () => assert.equal(await dropExpiredPartitions(db, today), TABLES),
      () => createPartitions(db, later),
    ]) {
      let working: Promise<void> | undefined;
      await db.begin(async (tx) => {
        await tx`lock table ${tx(first)} in row exclusive mode`;
        working = work();
        await untilSomebodyWaits();
        for (const table of rest) await tx`lock table ${tx(table)} in row exclusive mode`;
      });
      await working;
    }
  });
}

test("while nothing has expired, writers do not wait", async () => {
  await db.begin(async (tx) => {
    await tx`lock table waiting_deliveries, events in row exclusive mode`;
    assert.equal(await dropExpiredPartitions(db, today), 0);
  });
});

test("a waiting delivery keeps only the events of its day", async () => {
  for (const day of [43, 44, 45, 46]) await aDay(day);
  const awaited = await anEvent(45, "waiting");
  const others = [await anEvent(44, "delivered"), await anEvent(46, "delivered")];
  const before = await names();

  assert.equal(await dropExpiredPartitions(db, today), 4 * TABLES - 1);
  assert.equal((await names()).length, before.length - (4 * (TABLES - 1) - 1));
  assert.equal(await exists(awaited), true);
  for (const id of others) assert.equal(await exists(id), false);

  await db`delete from waiting_deliveries`;
  assert.equal(await dropExpiredPartitions(db, today), 1);
  assert.equal(await exists(awaited), false);
});

test("a waiting or finished redelivery keeps only the events of its event's day", async () => {
  await aDay(45);
  const eventId = await anEvent(45, "delivered");
  const keeps = async () => {
    await aDay(44);
    const later = await anEvent(44, "delivered");
    await dropExpiredPartitions(db, today);
    return [await exists(eventId), await exists(later)];
  };

  const redelivery = await aRedelivery(db, eventId);
  assert.deepEqual(await keeps(), [true, false]);
  await db`delete from waiting_deliveries`;
  const cancelled = { ending: 1, attempts: 0, troubled_organization_id: randomUUID() };
  const row = { ...redelivery, ...cancelled, subscription_number: 1, finished_at: today };
  await db`insert into finished_deliveries ${db(row)}`;
  assert.deepEqual(await keeps(), [true, false]);
  await owner`delete from finished_deliveries`;
  await owner`delete from redelivery_marks`;
  assert.deepEqual(await keeps(), [false, false]);
});

test("a mark stays as long as its redelivery, which has its event from it", async () => {
  const eventId = numberedId(daysAgo(45));
  const expire = async () => {
    await db`select delete_expired_marks(${today})`;
    return (await db`select from redelivery_marks`).length;
  };
  const { id } = await aRedelivery(db, eventId, daysAgo(40));
  assert.equal(await expire(), 1, "waiting");
  await db`delete from waiting_deliveries`;
  const cancelled = { ending: 1, attempts: 0, troubled_organization_id: randomUUID() };
  const row = { id, finished_at: today, subscription_number: 1, ...cancelled };
  await db`insert into finished_deliveries ${db(row)}`;
  assert.equal(await expire(), 1, "finished");
  await owner`delete from finished_deliveries`;
  assert.equal(await expire(), 0, "gone");
});

test("a lease of a cancelled delivery is deleted after the retention", async () => {
  for (const days of [29, 31]) {
    const lease = {
      delivery_id: randomUUID(),
      lease_id: randomUUID(),
      cancelled_at: daysAgo(days),
    };
    await db`insert into cancelled_leases ${db(lease)}`;
  }
  await db`select delete_expired_leases(${today})`;
  const rows = await db<
    { cancelled_at: Date }[]
  >`delete from cancelled_leases returning cancelled_at`;
  assert.deepEqual(
    rows.map((row) => row.cancelled_at),
    [daysAgo(29)],
  );
});

test("an expired event that a running transaction redelivers is kept", async () => {
  await aDay(45);
  const eventId = await anEvent(45, "delivered");
  let dropping: Promise<number> | undefined;
  await db.begin(async (tx) => {
    await tx`select from events where id = ${eventId}`;
    dropping = dropExpiredPartitions(db, today);
    await untilSomebodyWaits();
    await aRedelivery(tx, eventId);
  });
  await dropping;
  assert.equal(await exists(eventId), true);
  await db`delete from waiting_deliveries`;
  await owner`delete from redelivery_marks`;
  await dropExpiredPartitions(db, today);
});

test("the check before dropping a day's events does not read a long queue", async () => {
  await aDay(45);
  await owner`
    insert into waiting_deliveries (id, event_id, subscription_id, organization_id, due_at)
    select id, id, id, id, ${today}
      from (select overlay(gen_random_uuid()::text placing left(first_id_at(${today})::text, 13) from 1)::uuid as id
              from generate_series(1, 2000)) as young`;

  const read = await db.begin(async (tx) => {
    const [{ dropped }] = await tx<[{ dropped: number }]>`
      select drop_expired_partitions('events', ${today}) as dropped`;
    assert.equal(dropped, 1);
    const [row] = await tx<[{ read: number }]>`
      select (seq_tup_read + idx_tup_fetch)::int as read
        from pg_stat_xact_user_tables where relname = 'waiting_deliveries'`;
    return row.read;
  });
  assert.ok(read < 10, `${read} deliveries were read`);
  await db`delete from waiting_deliveries`;
  await dropExpiredPartitions(db, today);
});

test("partitions are dropped in one transaction each, so that writers can run in between", async () => {
  await aDay(45);
  await aDay(46);
  const before = await names();
  await db`select drop_expired_partitions('attempts', ${today})`;
  assert.equal((await names()).length, before.length - 1);
  assert.equal(await dropExpiredPartitions(db, today), 2 * TABLES - 1);
});

test("partitions are created ahead, once, and without a gap after the retention changed", async () => {
  await createPartitions(db, today);
  const before = await names();
  await createPartitions(db, today);
  assert.deepEqual(await names(), before);

  await writeRetention(owner, 3_600_000);
  const soon = new Date(today.getTime() + 3 * DAY_MS);
  await createPartitions(db, soon);
  const gaps = await owner`
    select relation from (
      select relation, since, lag(until) over (partition by relation order by since) as previous
        from history_partitions where since > ${daysAgo(1)}) p
     where previous is not null and previous <> since`;
  assert.equal(gaps.length, 0);
});

test("a process whose clock ran ahead causes no gap for the others", async () => {
  const ahead = new Date(today.getTime() + 400 * DAY_MS);
  await createPartitions(db, ahead);
  const present = new Date(today.getTime() + 20 * DAY_MS);
  await createPartitions(db, present);
  const covering = await owner`
    select from history_partitions where since <= ${present} and until > ${present}`;
  assert.equal(covering.length, TABLES);
});
