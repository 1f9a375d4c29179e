import assert from "node:assert/strict";
import { test } from "node:test";
import { DatabaseClock } from "../../src/observe/database-clock.ts";
import type { Database } from "../../src/postgres/database.ts";
import { createDatabase } from "../support/database.ts";

const db = await createDatabase();
const HOUR_MS = 3_600_000;

function aMachine() {
  const machine = { ahead: 0, monotonic: 0 };
  const system = () => new Date(Date.now() + machine.ahead);
  return { machine, clock: new DatabaseClock(db, system, () => machine.monotonic), system };
}

const secondsApart = (a: Date, b: Date) => Math.round(Math.abs(a.getTime() - b.getTime()) / 1000);

test("a clock within five seconds of the database's is used unchanged", async () => {
  const { machine, clock, system } = aMachine();
  machine.ahead = 4_000;
  await clock.measure();
  assert.ok(clock.isRight);
  assert.equal(secondsApart(clock.now(), system()), 0);
});

test("on a machine whose clock is an hour wrong, the database's time is used", async () => {
  for (const ahead of [HOUR_MS, -HOUR_MS]) {
    const { machine, clock } = aMachine();
    machine.ahead = ahead;
    await clock.measure();
    assert.ok(!clock.isRight);
    assert.equal(secondsApart(clock.now(), new Date()), 0);
  }
});

test("a step of the machine's clock and its correction are noticed at once", async () => {
  const { machine, clock } = aMachine();
  await clock.measure();
  machine.ahead = HOUR_MS;
  assert.ok(!clock.isRight);
  assert.equal(secondsApart(clock.now(), new Date()), 0);
  machine.ahead = 0;
  assert.ok(clock.isRight);
});

test("a change that the monotonic clock confirms is no step", async () => {
  const { machine, clock, system } = aMachine();
  await clock.measure();
  machine.ahead = HOUR_MS;
  machine.monotonic = HOUR_MS;
  assert.ok(clock.isRight);
  assert.equal(secondsApart(clock.now(), system()), 0);
});

test("a slow measurement does not make a correct clock wrong, but detects an hour's error", async () => {
  for (const ahead of [0, HOUR_MS]) {
    const machine = { ahead: ahead - 20_000, monotonic: 0 };
    const slow = ((...query: Parameters<typeof db>) => {
      machine.ahead += 20_000; // The query waits this long for its turn.
      machine.monotonic += 20_000;
      return db(...query);
    }) as unknown as Database;
    slow.within = () => slow;
    const system = () => new Date(Date.now() + machine.ahead);
    const clock = new DatabaseClock(slow, system, () => machine.monotonic);
    await clock.measure();
    assert.equal(Math.round(Math.abs(clock.skewMs) / HOUR_MS), ahead / HOUR_MS);
    assert.equal(clock.isRight, ahead === 0);
  }
});

test("after a suspension the clock is measured at once", async () => {
  const times = { database: 0, system: 0 };
  const suspended = (() =>
    Promise.resolve([{ ms: String(times.database) }])) as unknown as Database;
  suspended.within = () => suspended;
  const clock = new DatabaseClock(
    suspended,
    () => new Date(times.system),
    () => 0,
  );
  await clock.measure();
  Object.assign(times, { database: HOUR_MS, system: HOUR_MS });
  clock.now();
  await new Promise(setImmediate);
  assert.deepEqual(clock.now(), new Date(HOUR_MS));
});
