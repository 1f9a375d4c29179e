import assert from "node:assert/strict";
import { test } from "node:test";
import { Due } from "../../src/queue/due.ts";
import { Pace } from "../../src/queue/pace.ts";
import { Slots } from "../../src/queue/slots.ts";

/** A pace on a virtual clock, and the share of time for which its thread works. */
function rig() {
  const thread = { nowMs: 0, utilization: 0 };
  const pace = new Pace(
    () => thread.utilization,
    () => thread.nowMs,
  );
  return { thread, pace };
}

type Rig = ReturnType<typeof rig>;

function note({ pace }: Rig, organization: string, attempts: number): void {
  for (let n = 0; n < attempts; n++) pace.note(organization);
}

/** Lets windows of 20 ms pass, in which the thread works for this share of the time. */
function pass({ thread, pace }: Rig, windows: number, utilization: number): void {
  thread.utilization = utilization;
  for (let n = 0; n < windows; n++) {
    thread.nowMs += 20;
    pace.leftFor("large");
  }
}

/** One organization begins 1,000 attempts and another one 5. */
function unequal(): Rig {
  const one = rig();
  note(one, "small", 5);
  note(one, "large", 1_000);
  return one;
}

test("while the thread is busy, a large organization begins half as many attempts in each window", () => {
  const one = unequal();
  const left = [1, 2, 3, 4, 5, 6, 7].map(() => {
    pass(one, 1, 0.95);
    return one.pace.leftFor("large");
  });
  assert.deepEqual(left, [32, 16, 8, 4, 4, 4, 4]);
});

test("an organization with few attempts is not limited", () => {
  const one = unequal();
  pass(one, 5, 0.95);
  assert.equal(one.pace.leftFor("small"), Infinity);
  assert.equal(one.pace.leftFor("new"), Infinity);
});

test("attempts of this window count, and those of earlier ones do not", () => {
  const one = unequal();
  pass(one, 3, 0.95);
  note(one, "large", 6);
  assert.equal(one.pace.leftFor("large"), 2);
  note(one, "large", 6);
  assert.equal(one.pace.leftFor("large"), 0);
  pass(one, 1, 0.5);
  assert.equal(one.pace.leftFor("large"), 9);
});

test("after the thread was busy, a large organization begins one more attempt in each window, then all", () => {
  const one = unequal();
  pass(one, 5, 0.95);
  pass(one, 10, 0.5);
  assert.equal(one.pace.leftFor("large"), 14);
  note(one, "large", 200);
  pass(one, 53, 0.5);
  note(one, "large", 200);
  assert.equal(one.pace.leftFor("large"), Infinity);
});

test("organizations with the same number of attempts do not limit each other", () => {
  const one = rig();
  for (let n = 0; n < 10; n++) note(one, `${n}`, 500);
  pass(one, 5, 0.99);
  for (let n = 0; n < 10; n++) assert.equal(one.pace.leftFor(`${n}`), Infinity);
});

test("a sole organization is not limited", () => {
  const one = rig();
  note(one, "large", 5_000);
  pass(one, 5, 0.99);
  assert.equal(one.pace.leftFor("large"), Infinity);
});

test("an organization that was alone begins at full pace when another one comes", () => {
  const one = rig();
  note(one, "large", 3_000);
  pass(one, 20, 0.95);
  note(one, "small", 1);
  note(one, "large", 1);
  pass(one, 1, 0.95);
  assert.equal(one.pace.leftFor("large"), 32);
});

test("an organization that was large two seconds ago is not limited", () => {
  const one = unequal();
  pass(one, 101, 0.95);
  assert.equal(one.pace.leftFor("large"), Infinity);
});

test("the next window begins within 20 ms, or never without a limit", () => {
  const one = unequal();
  assert.equal(one.pace.nextInMs, Infinity);
  pass(one, 1, 0.95);
  one.thread.nowMs += 5;
  assert.equal(one.pace.nextInMs, 15);
  one.thread.nowMs += 50;
  assert.equal(one.pace.nextInMs, 20);
});

test("a claim for a large organization is limited to its pace, and that of a newcomer is not", () => {
  const one = unequal();
  pass(one, 3, 0.95);
  const slots = new Slots(512, 256, one.pace);
  const due = new Due({ listDue: () => assert.fail("no scan"), pollIntervalMs: 0 });
  due.add([
    { subscriptionId: "large1", organizationId: "large" },
    { subscriptionId: "large2", organizationId: "large" },
    { subscriptionId: "new", organizationId: "new" },
  ]);
  const attempt = { subscriptionId: "large1", organizationId: "large", url: "https://l.test/" };
  slots.take(attempt);
  slots.note(attempt, "answered", 0, 1); // Its receiver answers promptly.
  slots.give(attempt);

  const wanted = slots.allot(due).quotas;
  assert.deepEqual(Object.fromEntries(wanted.map((s) => [s.subscriptionId, s.quota])), {
    large1: 7,
    new: 16,
  });
});

test("the subscriptions of a large organization share its pace", () => {
  const one = unequal();
  pass(one, 1, 0.95);
  const slots = new Slots(512, 256, one.pace);
  const ids = ["large1", "large2", "large3"];
  const due = new Due({ listDue: () => assert.fail("no scan"), pollIntervalMs: 0 });
  due.add(ids.map((id) => ({ subscriptionId: id, organizationId: "large" })));
  const quotas = slots.allot(due).quotas.map(({ quota }) => quota);
  assert.deepEqual(quotas, [16, 16]);
});

test("new events of a limited organization wait for a claim", () => {
  const one = unequal();
  assert.equal(one.pace.leftFor("large"), Infinity);
  pass(one, 1, 0.99);
  assert.ok(one.pace.leftFor("large") < Infinity);
});

test("after a pause, earlier attempts do not count", () => {
  const one = unequal();
  pass(one, 5, 0.99);
  one.thread.nowMs += 3_600_000;
  note(one, "large", 100);
  assert.equal(one.pace.leftFor("large"), Infinity);
});
