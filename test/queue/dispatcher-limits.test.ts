import assert from "node:assert/strict";
import { test } from "node:test";
import type { Holders } from "../../src/queue/dispatcher.ts";
import { aDispatcher } from "../support/dispatcher.ts";
import { dueOf } from "../support/due.ts";

test("a receiver that did not answer gets one attempt at a time", async (t) => {
  const d = aDispatcher(t, { silent: 100 }, { concurrency: 100, signal: "unanswered" });
  d.dispatcher.start();
  await d.reaches(10);
  for (let n = 0; n < 10; n++) d.endOne("silent");
  await d.reaches(1);
  for (let n = 0; n < 5; n++) await new Promise(setImmediate);
  assert.equal(d.inFlight.length, 1);
});

test("an attempt that fails at once holds its slot for a while, and its outcome is recorded at once", async (t) => {
  const failing = { concurrency: 100, signal: "unanswered", unansweredMs: 3_600_000 } as const;
  const { dispatcher, inFlight, reaches, endOne } = aDispatcher(t, { reset: 20 }, failing);
  dispatcher.start();
  await reaches(10);
  for (let ended = 0; ended < 10; ended++) endOne("reset");
  for (let n = 0; n < 20; n++) await new Promise(setImmediate);
  assert.equal(inFlight.length, 0);
  assert.equal(dispatcher.inFlight, 10);
  await dispatcher.stop();
});

test("attempts that end together without an answer do not free their slots together", async (t) => {
  const longer = [0, 3.6e7];
  const random = () => longer.reverse()[0] ?? NaN;
  const timedOut = { concurrency: 100, signal: "unanswered", unansweredMs: 0, random } as const;
  const { dispatcher, reaches, endOne } = aDispatcher(t, { silent: 10 }, timedOut);
  dispatcher.start();
  await reaches(10);
  for (let ended = 0; ended < 10; ended++) endOne("silent");
  for (let n = 0; n < 20; n++) await new Promise(setImmediate);
  assert.equal(dispatcher.inFlight, 5);
  await dispatcher.stop();
});

test("attempts at a host that does not answer are postponed above the share of one organization", async (t) => {
  const names = Array.from({ length: 30 }, (_, i) => `s${i}`);
  const queue = Object.fromEntries(names.map((name) => [name, 0]));
  const d = aDispatcher(t, queue, { concurrency: 20, host: "dead", signal: "unanswered" });
  d.dispatcher.start();
  d.add("first", 1);
  d.dispatcher.nudge(dueOf("first"));
  await d.reaches(1);
  d.endOne("first");
  await new Promise(setImmediate);

  for (const name of names) d.add(name, 1);
  d.dispatcher.nudge(dueOf(...names));
  await d.reaches(1);
  for (let n = 0; n < 20; n++) await new Promise(setImmediate);
  assert.ok(d.inFlight.length <= 18, `${d.inFlight.length} of 20 slots`);
  assert.ok(d.deferred.length > 0, "the host of a new subscription is known after its claim");
});

const HANGING = Array.from({ length: 10_000 }, (_, i) => `hanging ${i}`);
const BACKLOG = Object.fromEntries(HANGING.map((id) => [id, 2]));
/** Too few slots for all, and nothing is found by a scan. */
const FEW_SLOTS = { concurrency: 20, subscriptionConcurrency: 1, look: () => Promise.resolve([]) };

test(
  "a newcomer's event is attempted although 10,000 subscriptions at receivers that hang are due",
  { timeout: 10_000 },
  async (t) => {
    const d = aDispatcher(t, BACKLOG, FEW_SLOTS);
    d.dispatcher.start();
    d.dispatcher.nudge(
      HANGING.map((subscriptionId) => ({ subscriptionId, organizationId: "hanging" })),
    );
    await d.reaches(18);
    assert.equal(d.dispatcher.dueCount, 10_000);
    d.add("newcomer", 1);
    d.dispatcher.nudge(dueOf("newcomer"));
    while (!d.inFlight.some(({ subscription }) => subscription === "newcomer"))
      await new Promise(setImmediate);
  },
);

test(
  "a scan that finds 10,000 due subscriptions remembered forgets those at their limits",
  { timeout: 10_000 },
  async (t) => {
    const d = aDispatcher(t, BACKLOG, { ...FEW_SLOTS, pollIntervalMs: 1 });
    d.dispatcher.start();
    d.dispatcher.nudge(dueOf(...HANGING));
    while (d.dispatcher.dueCount === 10_000) await new Promise(setImmediate);
    assert.ok(d.dispatcher.dueCount > 9_900);
  },
);

test("a subscription that has used up its ceiling is not claimed before its time", async (t) => {
  let claims = 0;
  let nowMs = 0;
  const throttled = () => (claims++ === 0 ? [{ subscriptionId: "limited", forMs: 1_000 }] : []);
  const d = aDispatcher(t, {}, { throttled, elapsedMs: () => nowMs });
  d.dispatcher.start();
  d.dispatcher.nudge(dueOf("limited"));
  while (claims === 0) await new Promise(setImmediate);

  d.add("limited", 1);
  nowMs = 999;
  for (let n = 0; n < 20; n++) {
    d.dispatcher.nudge(dueOf("limited"));
    await new Promise(setImmediate);
  }
  assert.deepEqual([claims, d.inFlight.length], [1, 0]);
  nowMs = 1_000;
  d.dispatcher.nudge([]);
  await d.reaches(1);
});

test(
  "a subscription that has used up its ceiling is claimed again without a scan",
  { timeout: 10_000 },
  async (t) => {
    let claims = 0;
    let isAllowed = false;
    const throttled = () => {
      claims++;
      return isAllowed ? [] : [{ subscriptionId: "limited", forMs: 20 }];
    };
    const d = aDispatcher(t, {}, { throttled });
    d.dispatcher.start();
    d.dispatcher.nudge(dueOf("limited"));
    while (claims === 0) await new Promise(setImmediate);
    d.add("limited", 1);
    isAllowed = true;
    await d.reaches(1);
  },
);

test(
  "while only the reserve is free, the organizations with most slots are reported",
  { timeout: 10_000 },
  async (t) => {
    let told: Holders | undefined;
    const onContended = ({ holders }: { holders: Holders }) => (told ??= holders);
    const d = aDispatcher(t, { greedy: 100 }, { concurrency: 10, onContended });
    d.dispatcher.start();
    await d.reaches(9);
    while (told === undefined && !t.signal.aborted) await new Promise(setImmediate);
    assert.deepEqual(told, { organizations: [["owner of greedy", 9]], failingHosts: [] });
  },
);
