import assert from "node:assert/strict";
import { test } from "node:test";
import { aDispatcher } from "../support/dispatcher.ts";
import { dueOf } from "../support/due.ts";

test("a receiver that hangs uses only its own share of the slots", async (t) => {
  const d = aDispatcher(
    t,
    { hanging: 1000, healthy: 5 },
    { concurrency: 8, subscriptionConcurrency: 3 },
  );
  d.dispatcher.start();
  await d.reaches(6);
  assert.equal(d.inFlight.filter((a) => a.subscription === "hanging").length, 3);

  d.endOne("healthy");
  d.endOne("healthy");
  await d.reaches(6);
  assert.equal(d.inFlight.filter((a) => a.subscription === "hanging").length, 3);
  assert.equal(d.inFlight.filter((a) => a.subscription === "healthy").length, 3);
});

test(
  "a subscription behind one with cancelled deliveries does not wait for the next scan",
  { timeout: 10_000 },
  async (t) => {
    const d = aDispatcher(t, { gone: 1000, healthy: 4 }, { inactive: "gone" });
    d.dispatcher.start();
    await d.reaches(4);
    assert.ok(d.inFlight.every((a) => a.subscription === "healthy"));
  },
);

test("there are never more attempts in flight than slots", async (t) => {
  const d = aDispatcher(t, { a: 50, b: 50, c: 50 }, { concurrency: 7 });
  d.dispatcher.start();
  await d.reaches(7);
  for (let i = 0; i < 20; i++) {
    d.endOne(d.inFlight[0]?.subscription ?? "");
    await d.reaches(7);
    assert.equal(d.dispatcher.inFlight, 7);
  }
});

test("a nudge starts a new delivery before the next poll", async (t) => {
  const d = aDispatcher(t, {});
  d.dispatcher.start();
  d.add("new", 1);
  d.dispatcher.nudge(dueOf("new"));
  await d.reaches(1);
});

test("without a nudge the poll finds the delivery", async (t) => {
  const d = aDispatcher(t, {}, { pollIntervalMs: 5 });
  d.dispatcher.start();
  d.add("elsewhere", 1);
  await d.reaches(1);
});

test("more subscriptions than one scan returns are all served without waiting for a poll", async (t) => {
  const many = Object.fromEntries(Array.from({ length: 2500 }, (_, i) => [`s${i + 1000}`, 1]));
  const d = aDispatcher(t, many, { concurrency: 4000 });
  d.dispatcher.start();
  await d.reaches(2500);
});

test("many subscriptions with few due deliveries fill all slots, and none is forgotten", async (t) => {
  const many = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`s${i + 1000}`, 3]));
  const d = aDispatcher(t, many, { concurrency: 1000 });
  d.dispatcher.start();
  await d.reaches(900);
});

test("an empty claim is followed by the next if other subscriptions are known to be due", async (t) => {
  const d = aDispatcher(t, {});
  d.dispatcher.start();
  await new Promise(setImmediate); // The scan has found nothing.
  d.add("behind", 1);
  d.dispatcher.nudge(
    dueOf(...Array.from({ length: 100 }, (_, i) => `taken elsewhere ${i}`), "behind"),
  );
  await d.reaches(1);
});

test("a stopping dispatcher claims nothing more and waits for the attempts in flight", async (t) => {
  const d = aDispatcher(t, { a: 3 }, { concurrency: 1 });
  d.dispatcher.start();
  await d.reaches(1);
  let stopped = false;
  const stop = d.dispatcher.stop().then(() => (stopped = true));
  await new Promise(setImmediate);
  assert.equal(stopped, false);
  d.endOne("a");
  await stop;
  assert.equal(d.inFlight.length, 0);
});

test("while too many outcomes wait to be recorded, nothing is claimed, even if slots are free", async (t) => {
  let record: () => void = () => undefined;
  const recorded = new Promise<void>((resolve) => (record = resolve));
  t.after(() => record());
  const d = aDispatcher(t, { a: 10 }, { concurrency: 2, recorded });
  d.dispatcher.start();
  for (let round = 0; round < 2; round++) {
    await d.reaches(2);
    d.endOne("a");
    d.endOne("a");
  }
  await new Promise(setImmediate);
  assert.deepEqual(d.inFlight, [], "four outcomes are not recorded yet");
  record();
  await d.reaches(2);
});

test("the number of remembered due subscriptions is bounded, and none is lost", async (t) => {
  let now = 0;
  t.mock.method(performance, "now", () => now); // No scan runs before the nudged subscriptions are served.
  const ids = Array.from({ length: 12_000 }, (_, i) => `s${String(i).padStart(5, "0")}`);
  const { dispatcher, inFlight, add, reaches } = aDispatcher(
    t,
    {},
    { concurrency: 20_000, pollIntervalMs: 1_000 },
  );
  dispatcher.start();
  await new Promise(setImmediate); // The scan has found nothing.
  for (const id of ids) add(id, 1);
  dispatcher.nudge(dueOf(...ids));
  await reaches(10_000);
  assert.equal(inFlight.length, 10_000);
  now = 1_000;
  dispatcher.nudge([]);
  await reaches(12_000);
});

test("known subscriptions are claimed during a slow scan, and those that it finds follow", async (t) => {
  let answer: (ids: string[]) => void = () => undefined;
  const scanning = new Promise<string[]>((resolve) => (answer = resolve));
  const d = aDispatcher(t, { found: 1 }, { scan: () => scanning });
  d.dispatcher.start();
  d.add("nudged", 1);
  d.dispatcher.nudge(dueOf("nudged"));
  await d.reaches(1);
  answer(["found"]);
  await d.reaches(2);
});

test("a failed scan does not stop claims of known subscriptions", async (t) => {
  const failures: unknown[] = [];
  const away = new Error("it took too long");
  const d = aDispatcher(
    t,
    { nudged: 1 },
    { scan: () => Promise.reject(away), onError: (error) => failures.push(error) },
  );
  d.dispatcher.nudge(dueOf("nudged"));
  d.dispatcher.start();
  await d.reaches(1);
  assert.deepEqual(failures, [away]);
});
