import assert from "node:assert/strict";
import { test } from "node:test";
import { Due } from "../../src/delivery/due.ts";
import { dueOf } from "../support/due.ts";

function aDue(found: string[] = []) {
  let looks = 0;
  const listDue = () => {
    looks++;
    return Promise.resolve({ due: dueOf(...found), upTo: null });
  };
  return { due: new Due({ listDue, pollIntervalMs: 0 }), looks: () => looks };
}

test("a subscription that a claim did not reach keeps its place", () => {
  const { due } = aDue();
  due.add(dueOf("a", "b", "c"));
  due.ask(["a", "b"]);
  due.keepOrDrop("a", true);
  assert.deepEqual([...due.subscriptions], ["b", "c", "a"]);
});

test("a subscription without more due deliveries is forgotten", () => {
  const { due } = aDue();
  due.add(dueOf("a", "b"));
  due.ask(["a"]);
  due.keepOrDrop("a", false);
  assert.deepEqual([...due.subscriptions], ["b"]);
});

test("a subscription that is added during its claim is remembered, because the claim may have missed it", () => {
  const { due } = aDue();
  due.add(dueOf("a", "b"));
  due.ask(["a"]);
  due.add(dueOf("a"));
  due.keepOrDrop("a", false);
  assert.deepEqual([...due.subscriptions], ["b", "a"]);
});

test("such a subscription is remembered even if the list of due subscriptions is full", () => {
  const { due } = aDue();
  const ids = Array.from({ length: 10_000 }, (_, i) => `s${i}`);
  due.add(dueOf(...ids));
  due.ask(["s0"]);
  due.add(dueOf("s0", "one too many"));
  due.keepOrDrop("s0", false);
  assert.ok([...due.subscriptions].includes("s0"));
  assert.equal(due.size, 10_000);
});

test("while enough is due for all free slots, one scan a second suffices", async (t) => {
  let now = 0;
  t.mock.method(performance, "now", () => now);
  const { due, looks } = aDue(["a", "b"]);
  const scansAt = async (ms: number, hasEnough: boolean) => {
    now = ms;
    await due.scan(hasEnough);
    return looks();
  };

  assert.equal(await scansAt(0, true), 1);
  assert.equal(await scansAt(999, true), 1);
  assert.equal(await scansAt(1_000, true), 2);
  assert.equal(await scansAt(1_001, false), 3, "more slots are free");
});

test("a scan that returns only known subscriptions counts as empty", async (t) => {
  let now = 0;
  t.mock.method(performance, "now", () => (now += 10_000));
  const { due, looks } = aDue(["a"]);
  assert.deepEqual([await due.scan(false), await due.scan(false)], [true, false]);
  assert.equal(looks(), 2);
});

test("a scan that reaches its bound continues at once if it found something new, otherwise after twice its duration", async (t) => {
  let now = 0;
  t.mock.method(performance, "now", () => now);
  let scans = 0;
  const listDue = () => {
    scans++;
    now += 100;
    return Promise.resolve({ due: dueOf("a"), upTo: "a" });
  };
  const due = new Due({ listDue, pollIntervalMs: 0 });
  assert.equal(await due.scan(false), true);
  assert.equal(await due.scan(false), false);
  assert.equal(scans, 2, "the first one found something new");

  now = 200 + 99;
  await due.scan(false);
  assert.equal(scans, 2, "the second one did not");
  now = 200 + 100;
  await due.scan(false);
  assert.equal(scans, 3);
});

test("organizations take turns regardless of how much each has due", () => {
  const { due } = aDue();
  const of = (organization_id: string, ...ids: string[]) =>
    ids.map((subscription_id) => ({ subscription_id, organization_id }));
  due.add([...of("many", "m1", "m2", "m3"), ...of("one", "o1")]);
  due.ask(["m1", "o1"]);
  due.keepOrDrop("m1", true);
  assert.deepEqual([...due.organizations], ["one", "many"]);
  assert.deepEqual([...due.of("many")], ["m2", "m3", "m1"]);
  due.keepOrDrop("o1", false);
  assert.deepEqual([...due.organizations], ["many"]);
});
