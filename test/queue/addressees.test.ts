import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setImmediate } from "node:timers/promises";
import { randomId } from "../../src/lib/ids.ts";
import { Addressees, readFleet } from "../../src/queue/nudging.ts";
import type { ProcessRole } from "../../src/subjects/processes/rules.ts";
import { recordProcess } from "../../src/subjects/processes/sql.ts";
import { createClock } from "../support/clock.ts";
import { identity, REPORT } from "../support/counted-engine.ts";
import { createDatabase } from "../support/database.ts";

/** Addressees on a clock that the test moves. `running` returns the list of dispatchers. */
function addresseesOf(t: TestContext, running: () => Promise<string[]>, senders = 1) {
  let now = 1_000;
  t.mock.restoreAll(); // Two mocks of one method are restored in the wrong order.
  t.mock.method(performance, "now", () => now);
  const addressees = new Addressees(async () => ({ dispatchers: await running(), senders }));
  /** The addressees of the next three nudges, each after pending reads. */
  const next = async () => {
    const chosen: (string | null)[] = [];
    for (let nudges = 0; nudges < 3; nudges++) {
      chosen.push(addressees.next());
      await setImmediate();
    }
    return chosen;
  };
  return { addressees, next, pass: (ms: number) => (now += ms) };
}

test("dispatchers get nudges in turn, and all get one while the list is read", async (t) => {
  const { next } = addresseesOf(t, () => Promise.resolve(["a", "b"]));
  const [first, ...others] = await next();
  assert.equal(first, null);
  assert.deepEqual(others.sort(), ["a", "b"]);
});

test("every 5 s the list is read again", async (t) => {
  let running = ["a"];
  const { next, pass } = addresseesOf(t, () => Promise.resolve(running));
  await next();
  running = ["b"];
  pass(4_999);
  assert.deepEqual(await next(), ["a", "a", "a"]);
  pass(1);
  assert.deepEqual(await next(), [null, "b", "b"]);
});

test("all dispatchers get the nudges if none runs or the list cannot be read", async (t) => {
  const none = addresseesOf(t, () => Promise.resolve([]));
  assert.deepEqual(await none.next(), [null, null, null]);
  const unread = addresseesOf(t, () => Promise.reject(new Error("away")));
  assert.deepEqual(await unread.next(), [null, null, null]);
});

test("few api processes share 200 nudges a second, and many may send 50 each", async (t) => {
  for (const [senders, paceMs] of [
    [0, 5],
    [1, 5],
    [3, 15],
    [4, 20],
    [100, 20],
  ] as const) {
    const { addressees, next } = addresseesOf(t, () => Promise.resolve(["a"]), senders);
    assert.equal(addressees.paceMs, 20, "it has not read which processes run");
    await next();
    assert.equal(addressees.paceMs, paceMs);
  }
});

test("only running processes count, each for what it does", async () => {
  const db = await createDatabase();
  const clock = createClock();
  const report = async (role: ProcessRole, { isStopping = false, at = clock() } = {}) => {
    const id = randomId();
    await recordProcess(
      db,
      { ...identity, id, role, startedAt: at },
      { ...REPORT, isStopping },
      at,
    );
    return id;
  };
  const silentSince = new Date(clock().getTime() - 15_000);
  for (const role of ["api", "dispatcher"] as const) {
    await report(role, { isStopping: true });
    await report(role, { at: silentSince });
  }
  const dispatchers = [await report("dispatcher"), await report("all")];
  for (let senders = 0; senders < 3; senders++) await report("api");

  const fleet = await readFleet(db, clock);
  assert.deepEqual(fleet.dispatchers.sort(), dispatchers.sort());
  assert.equal(fleet.senders, 3);
});
