import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { rollUpActivity, writeActivity } from "../../../src/jobs/activity.ts";
import { createPartitions, dropExpiredPartitions } from "../../../src/jobs/maintenance-sql.ts";
import { ActivityLog } from "../../../src/subjects/activity/log.ts";
import {
  type ActivityCounts,
  MINUTE_MS,
  SERVICE_SCOPE,
} from "../../../src/subjects/activity/rules.ts";
import { listActivity, sumActivity } from "../../../src/subjects/activity/sql.ts";
import { createClock, ERA } from "../../support/clock.ts";
import { columns } from "../../support/columns.ts";
import { aGate } from "../../support/database-gate.ts";
import { createDatabase, ownerOf } from "../../support/database.ts";
import { acknowledged, aSubscription, createEngine, publish } from "../../support/engine.ts";

const db = await createDatabase();
const owner = { organizationId: randomUUID(), subscriptionId: randomUUID() };
const always = { since: new Date(0), until: new Date(Date.UTC(2030, 0)) };
const ofSubscription = { scope: owner.subscriptionId, ...always };

const anAttempt = (reason: string | null) => (counts: ActivityCounts) => {
  counts.addAttempt(5, reason);
};

/** The log of one process, on an empty table. */
async function aLog(max?: number) {
  await db`delete from activity_minutes`;
  await ownerOf(db)`delete from activity_hours`;
  const clock = createClock();
  const log = new ActivityLog(clock, max);
  const processId = randomUUID();
  return { clock, log, write: (to = db) => writeActivity(to, log, processId) };
}

test("two processes write separate rows, and readers get the sum", async () => {
  const first = await aLog();
  const second = new ActivityLog(first.clock);
  first.log.note(owner, anAttempt(null));
  second.note(owner, anAttempt("timeout"));
  second.note(owner, anAttempt("timeout"));
  await Promise.all([first.write(), writeActivity(db, second, randomUUID())]);
  const [point, ...more] = await listActivity(db, ofSubscription, MINUTE_MS);
  assert.deepEqual(more, []);
  assert.deepEqual([point?.succeeded, point?.failed], [1, 2]);
  assert.deepEqual(point?.reasons, { timeout: 2 });
  assert.deepEqual(Object.values(point.attemptMs), [3]);
  const { succeeded, failed } = await sumActivity(db, { scope: SERVICE_SCOPE, ...always });
  assert.deepEqual([succeeded, failed], [1, 2]);
});

test("an interrupted write loses nothing, and nothing is counted twice", async (t) => {
  const { log, write, clock } = await aLog();
  const gate = await aGate(t, db);
  log.note(owner, anAttempt(null));
  await write(gate.db);
  log.note(owner, anAttempt(null));
  await gate.close();
  await assert.rejects(write(gate.db));
  clock.advance(MINUTE_MS);
  log.note(owner, anAttempt("dns_error"));
  await assert.rejects(write(gate.db));
  await gate.open();
  await write(gate.db);
  await write(gate.db);
  const points = await listActivity(db, ofSubscription, MINUTE_MS);
  assert.deepEqual(columns(points, "succeeded", "failed"), [
    [2, 0],
    [0, 1],
  ]);
});

test("a write with an unknown result is repeated with the same numbers", async () => {
  const { log, write } = await aLog();
  log.note(owner, anAttempt(null));
  const entries = log.take();
  log.giveBack(entries);
  await write();
  log.giveBack(entries);
  await write();
  assert.equal((await sumActivity(db, ofSubscription)).succeeded, 1);
});

test("a write contains only changes, a thousand rows in a statement", async () => {
  const { log, write } = await aLog();
  const writes = async () => {
    const statements: number[] = [];
    const spy = Object.assign(
      (...args: Parameters<typeof db>) => {
        statements.push(String(args[1]).split(",").length);
        return db(...args);
      },
      { within: () => spy },
    ) as unknown as typeof db;
    await write(spy);
    return statements.length;
  };
  for (let i = 0; i < 1_500; i++) {
    log.note({ ...owner, subscriptionId: randomUUID() }, anAttempt(null));
  }
  assert.equal(await writes(), 2);
  assert.equal(await writes(), 0);
  log.note(owner, anAttempt(null));
  assert.equal(await writes(), 1);
});

test("activity above the bound is counted only for the service", async () => {
  const { log, write } = await aLog(3);
  log.note(owner, anAttempt(null));
  log.note({ ...owner, subscriptionId: randomUUID() }, anAttempt(null));
  await write();
  assert.equal(log.dropped, 1);
  assert.equal((await sumActivity(db, { scope: SERVICE_SCOPE, ...always })).succeeded, 2);
  assert.equal((await db`select from activity_minutes`).length, 3);
});

test("a clock that steps back neither restarts nor overwrites a minute", async () => {
  const { log, write, clock } = await aLog();
  clock.advance(MINUTE_MS);
  log.note(owner, anAttempt(null));
  await write();
  clock.advance(-MINUTE_MS);
  log.note(owner, anAttempt(null));
  clock.advance(MINUTE_MS);
  log.note(owner, anAttempt(null));
  await write();
  assert.equal((await sumActivity(db, ofSubscription)).succeeded, 3);
});

test("after 48 hours minutes are merged into hours, and no sum changes", async () => {
  const { log, write, clock } = await aLog();
  for (let minute = 0; minute < 90; minute++) {
    log.note(owner, anAttempt(minute % 3 === 0 ? "http_503" : null));
    clock.advance(MINUTE_MS);
  }
  await write();
  const before = await sumActivity(db, ofSubscription);
  const hours = await listActivity(db, ofSubscription, 60 * MINUTE_MS);

  clock.advance(48 * 60 * MINUTE_MS - 30 * MINUTE_MS - 1);
  await rollUpActivity({ db, clock });
  assert.equal((await db`select from activity_hours`).length, 0, "the first hour is too young");

  clock.advance(1);
  await rollUpActivity({ db, clock });
  assert.equal((await db`select from activity_hours`).length, 3, "one for each scope");
  assert.deepEqual(await sumActivity(db, ofSubscription), before);
  assert.deepEqual(await listActivity(db, ofSubscription, 60 * MINUTE_MS), hours);
  const minutes = await listActivity(db, ofSubscription, MINUTE_MS);
  assert.equal(minutes.length, 31, "an hour, and the thirty minutes after it");
  assert.deepEqual(hours[0]?.reasons, { http_503: 20 });
});

test("a day of minutes is dropped only after all of them were merged into hours", async () => {
  const { log, write, clock } = await aLog();
  const partitions = async () =>
    (
      await ownerOf(db)`
        select from history_partitions where relation = 'activity_minutes'::regclass and since = ${ERA}`
    ).length;
  await createPartitions(db, ERA);
  log.note(owner, anAttempt(null));
  await write();
  clock.advance(72 * 60 * MINUTE_MS - 1);
  await rollUpActivity({ db, clock });
  await dropExpiredPartitions(db, clock());
  assert.equal(await partitions(), 1, "its last minutes are not 48 hours old");

  await db`insert into activity_minutes select * from activity_hours limit 1`;
  clock.advance(1);
  await dropExpiredPartitions(db, clock());
  assert.equal(await partitions(), 1, "a minute was not merged into hours");

  await rollUpActivity({ db, clock });
  await dropExpiredPartitions(db, clock());
  assert.equal(await partitions(), 0);
});

test("a write that hangs or fails holds up no delivery", async (t) => {
  const { deps, deliverDue } = await createEngine(db);
  const { organizationId, id } = await aSubscription(deps);
  const gate = await aGate(t, db);
  deps.activity.note({ organizationId, subscriptionId: id }, anAttempt(null));
  await gate.db`select`; // It is connected.
  gate.freeze();
  const hanging = writeActivity(gate.db, deps.activity, randomUUID());
  await publish(deps, organizationId);
  assert.equal(await deliverDue(() => acknowledged), 1);
  gate.thaw();
  await hanging;

  await gate.close();
  deps.activity.note({ organizationId, subscriptionId: id }, anAttempt(null));
  await assert.rejects(writeActivity(gate.db, deps.activity, randomUUID()));
  await publish(deps, organizationId);
  assert.equal(await deliverDue(() => acknowledged), 1);
});
