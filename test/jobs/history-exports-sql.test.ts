import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { exportedTable } from "../../src/jobs/history-exports.ts";
import { createPartitions, detachExpiredPartitions } from "../../src/jobs/maintenance-sql.ts";
import { timeOrderedId } from "../../src/lib/ids.ts";
import { isForbidden } from "../../src/postgres/database.ts";
import { writeRetention } from "../../src/schema/migrate.ts";
import { grantService } from "../../src/schema/rights.ts";
import { claimExport, dropExported } from "../../src/subjects/activity/exports-sql.ts";
import { column } from "../support/columns.ts";
import { createDatabase, ownerOf } from "../support/database.ts";
import {
  aDetachedDay,
  anEventOf,
  daysAgo,
  insertEvent,
  isThere,
  listWaiting,
} from "../support/expired-history.ts";

const DAY_MS = 86_400_000;
const db = await createDatabase();
const owner = ownerOf(db);
const now = daysAgo(0);
const lease = () => ({ now: daysAgo(0), leasedUntil: daysAgo(-1) });

const countEvents = async (id: string) => (await db`select from events where id = ${id}`).length;

test("expired partitions are detached with all rows and stay readable, and younger ones are not detached", async () => {
  const old = await anEventOf(db, 40);
  const young = await anEventOf(db, 20);
  await detachExpiredPartitions(db, new Date(now.getTime() + 3650 * DAY_MS)); // A wrong clock changes nothing.
  assert.deepEqual([await countEvents(old), await countEvents(young)], [0, 1]);

  const waiting = await listWaiting(db);
  assert.ok(waiting.length > 5, "every table of history");
  assert.deepEqual(
    waiting.filter((name) => exportedTable({ schema: "public", partition: name }) === null),
    [],
    "every name is one that is exported",
  );
  const partition = waiting.find((name) => name.startsWith("events_") && !name.includes("202601"));
  assert.match(partition ?? "", /^events_\d{8}_000000_expired$/);
  await owner`delete from history_exports where partition <> ${partition ?? ""}`;
  const claimed = await claimExport(db, lease());
  assert.equal(claimed && exportedTable(claimed), `public.${partition ?? ""}`);
  assert.ok(claimed);
  const rows = await db<{ id: string }[]>`select id from ${db(claimed.partition)}`;
  assert.deepEqual(column(rows, "id"), [old]);
  assert.equal(await dropExported(db, claimed, now), true);
  assert.deepEqual(await listWaiting(db), []);
  assert.equal(await isThere(db, claimed.partition), false);
});

test("the service's role can neither drop a detached partition nor register another table as one", async () => {
  const partition = await aDetachedDay(db, 41);
  await assert.rejects(db`drop table ${db(partition)}`, isForbidden);
  await assert.rejects(
    db`insert into history_exports (partition, until, next_at) values ('api_keys', ${daysAgo(50)}, ${now})`,
    isForbidden,
  );
  await assert.rejects(db`update history_exports set partition = 'api_keys'`, isForbidden);
  await assert.rejects(db`update history_exports set until = ${daysAgo(90)}`, isForbidden);
  await assert.rejects(db`delete from history_exports`, isForbidden);
  await owner`create table private_notes (note text)`;
  await db`select permit_export('private_notes')`;
  await assert.rejects(db`select from private_notes`, isForbidden);
  await assert.rejects(db`select from ${db(partition)}`, isForbidden, "not before its export");
});

test("a role that was taken on by SET ROLE may read what is exported", async () => {
  const { database: name } = db.options;
  await owner.unsafe(`create role ${name}_app; grant ${name}_app to ${name}`);
  await grantService(owner, `${name}_app`);
  const partition = await aDetachedDay(db, 47);
  await db.begin(async (tx) => {
    await tx`set local role ${tx(`${name}_app`)}`;
    await tx`select permit_export(${partition})`;
    await tx`select from ${tx(partition)}`;
  });
  await owner`drop table ${owner(partition)}`;
  await owner`delete from history_exports`;
  await owner.unsafe(`drop owned by ${name}_app; drop role ${name}_app`);
});

test("only the lease of its export allows dropping a detached partition", async () => {
  const partition = await aDetachedDay(db, 42);
  await anEventOf(db, 45);
  await detachExpiredPartitions(db, now);
  const claimed = (await claimExport(db, lease())) ?? assert.fail();
  assert.equal(claimed.partition, (await listWaiting(db))[0]);
  assert.equal(
    await claimExport(db, lease()),
    null,
    "one process at a time, even if another one waits",
  );
  assert.equal(await dropExported(db, { ...claimed, leaseId: randomUUID() }, now), false);
  assert.equal(await isThere(db, claimed.partition), true);
  assert.equal(await dropExported(db, claimed, now), true);
  assert.equal((await claimExport(db, lease()))?.partition, partition);
});

test("a detached partition that the owner has dropped does not block others", async () => {
  const partition = await aDetachedDay(db, 46);
  await anEventOf(db, 44);
  await detachExpiredPartitions(db, daysAgo(0));
  await owner`drop table ${owner(partition)}`;
  const claimed = (await claimExport(db, lease())) ?? assert.fail();
  assert.notEqual(claimed.partition, partition);
  assert.deepEqual(await listWaiting(db), [claimed.partition]);
  assert.equal(await dropExported(db, claimed, now), true);
});

test("a partition that the owner now keeps longer is neither exported nor dropped", async () => {
  const partition = await aDetachedDay(db, 43);
  const claimed = (await claimExport(db, lease())) ?? assert.fail();
  await writeRetention(owner, 60 * DAY_MS);
  const later = new Date(now.getTime() + 3650 * DAY_MS); // Only the database's clock counts.
  assert.equal(await dropExported(db, claimed, later), false);
  await owner`update history_exports set lease_id = null, next_at = ${now}`;
  assert.equal(await claimExport(db, lease()), null);
  assert.equal(await isThere(db, partition), true);
  await writeRetention(owner, 30 * DAY_MS);
});

test("a waiting delivery keeps the events of its day from being detached", async () => {
  const [id, other] = [await anEventOf(db, 48), await anEventOf(db, 49)];
  await db`
    insert into waiting_deliveries (id, event_id, subscription_id, organization_id, due_at)
    values (${id}, ${id}, ${id}, ${id}, ${now})`;
  await detachExpiredPartitions(db, now);
  assert.deepEqual([await countEvents(id), await countEvents(other)], [1, 0]);

  await db`delete from waiting_deliveries`;
  await detachExpiredPartitions(db, now);
  assert.equal(await countEvents(id), 0);
});

test("a stray whose partition is detached gets its own partition, which is detached next", async () => {
  const partition = await aDetachedDay(db, 44);
  const at = daysAgo(44);
  const stray = timeOrderedId(at);
  await insertEvent(db, stray, at);
  await createPartitions(db, now);
  await detachExpiredPartitions(db, now);
  assert.deepEqual(await listWaiting(db), [partition]);
  assert.equal(await countEvents(stray), 1);

  const claimed = (await claimExport(db, lease())) ?? assert.fail();
  assert.equal(await dropExported(db, claimed, now), true);
  await detachExpiredPartitions(db, now);
  assert.deepEqual(await listWaiting(db), [partition]);
  assert.equal(await countEvents(stray), 0);
});
