import assert from "node:assert/strict";
import { test } from "node:test";
import { Due } from "../../src/queue/due.ts";
import { served } from "../../src/queue/served.ts";
import { dueOf } from "../support/due.ts";

function aDue(found: string[] = []) {
  let looks = 0;
  const listDue = () => {
    looks++;
    return Promise.resolve({ due: dueOf(...found), upTo: null });
  };
  return { due: new Due({ listDue, pollIntervalMs: 0 }), looks: () => looks };
}

const subscriptionsOf = (due: Due) => [...due.organizations].flatMap((id) => [...due.of(id)]);

test("a subscription that a claim did not reach keeps its position", () => {
  const { due } = aDue();
  due.add(dueOf("a", "b", "c"));
  due.ask(["a", "b"]);
  due.keepOrDrop("a", true);
  assert.deepEqual(subscriptionsOf(due), ["b", "c", "a"]);
});

test("a claim that its limit cuts short has not reached the subscriptions after its last delivery", () => {
  const quotas = dueOf("a", "b", "c", "d").map(({ subscriptionId }) => ({
    subscriptionId,
    quota: 2,
  }));
  const reached = (limit: number, taken: string[]) =>
    served(
      { quotas, limit },
      dueOf(...taken).map(({ subscriptionId }) => subscriptionId),
    );
  const [a, b, c, d] = quotas.map(({ subscriptionId: id }) => id);
  assert.deepEqual(reached(3, ["a", "a", "c"]), [
    { id: a, mayHaveMore: true },
    { id: b, mayHaveMore: false },
    { id: c, mayHaveMore: true },
  ]);
  assert.deepEqual(
    reached(9, ["a", "a", "c"]).map(({ id }) => id),
    [a, b, c, d],
  );
});

test("a subscription without more due deliveries is forgotten", () => {
  const { due } = aDue();
  due.add(dueOf("a", "b"));
  due.ask(["a"]);
  due.keepOrDrop("a", false);
  assert.deepEqual(subscriptionsOf(due), ["b"]);
});

test("a subscription that is added during its claim is remembered, because the claim may have missed it", () => {
  const { due } = aDue();
  due.add(dueOf("a", "b"));
  due.ask(["a"]);
  due.add(dueOf("a"));
  due.keepOrDrop("a", false);
  assert.deepEqual(subscriptionsOf(due), ["b", "a"]);
});

test("such a subscription is remembered even if the list of due subscriptions is full", () => {
  const { due } = aDue();
  const ids = Array.from({ length: 10_000 }, (_, i) => `s${i}`);
  due.add(dueOf(...ids));
  due.ask(["s0"]);
  due.add(dueOf("s0", "one too many"));
  due.keepOrDrop("s0", false);
  assert.ok(subscriptionsOf(due).includes("s0"));
  assert.equal(due.size, 10_000);
});

/** `count` subscriptions of one organization. */
function manyOf(organizationId: string, count: number) {
  return Array.from({ length: count }, (_, i) => ({
    subscriptionId: `${organizationId}${i}`,
    organizationId,
  }));
}

test("an organization that is not remembered finds room although 10,000 subscriptions of others are due", () => {
  const { due } = aDue();
  due.add([...manyOf("few", 4_000), ...manyOf("most", 6_000)]);
  assert.equal(due.add(manyOf("new", 1)), 1);
  assert.deepEqual([...due.organizations], ["few", "most", "new"], "each keeps its turn");
  assert.deepEqual([[...due.of("few")].length, [...due.of("most")].length], [4_000, 3_000]);
});

test("an organization with few subscriptions in the full list finds room for others of them", () => {
  const { due } = aDue();
  due.add([...manyOf("few", 1), ...manyOf("most", 9_999)]);
  due.add(manyOf("few", 100));
  assert.equal([...due.of("few")].length, 100);
});

test("the list of due subscriptions is bounded, for any number of organizations", () => {
  const { due } = aDue();
  for (let n = 0; n < 10_001; n++) due.add(manyOf(`organization ${n} `, 1));
  for (let n = 0; n < 100; n++) due.add(manyOf(`organization ${n} `, 200));
  assert.equal(due.size, 10_000);
});

test("if the list is full, a scan forgets subscriptions at their limits, and organizations keep their turns", async () => {
  const listDue = () => Promise.resolve({ due: [], upTo: null });
  const due = new Due({ listDue, pollIntervalMs: 0 }, (id) => !["a0", "b0"].includes(id));
  due.add([...manyOf("a", 9_999), ...manyOf("b", 1)]);
  await due.scan(false);
  assert.deepEqual([...due.organizations], ["a", "b"]);
  assert.deepEqual(subscriptionsOf(due), ["a0", "b0"]);
});

test("while more than 1,000 subscriptions are due, scans leave out those at their limits", async () => {
  const found = dueOf("at its limit", "below it");
  const listDue = () => Promise.resolve({ due: found, upTo: null });
  const due = new Due({ listDue, pollIntervalMs: 0 }, (id) => id === "at its limit");
  due.add(manyOf("a", 1_000));
  await due.scan(false);
  assert.deepEqual([due.knows("at its limit"), due.knows("below it")], [false, true]);
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
  const of = (organizationId: string, ...ids: string[]) =>
    ids.map((subscriptionId) => ({ subscriptionId, organizationId }));
  due.add([...of("many", "m1", "m2", "m3"), ...of("one", "o1")]);
  due.ask(["m1", "o1"]);
  due.keepOrDrop("m1", true);
  assert.deepEqual([...due.organizations], ["one", "many"]);
  assert.deepEqual([...due.of("many")], ["m2", "m3", "m1"]);
  due.keepOrDrop("o1", false);
  assert.deepEqual([...due.organizations], ["many"]);
});
