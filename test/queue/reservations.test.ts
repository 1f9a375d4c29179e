import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { Dispatcher } from "../../src/queue/dispatcher.ts";
import { Pace } from "../../src/queue/pace.ts";
import { Slots } from "../../src/queue/slots.ts";
import type { Taken, Wanted } from "../../src/subjects/deliveries/claims.ts";
import type { Claim } from "../../src/subjects/deliveries/rules.ts";
import { column } from "../support/columns.ts";
import { dueOf } from "../support/due.ts";

const NOTHING: Taken = { claims: [], subscriptionIds: [], throttled: [] };

/** A dispatcher without a queue. The test ends its attempts and records. */
function aDispatcher(
  t: TestContext,
  claim: (wanted: Wanted) => Promise<Taken> = () => Promise.resolve(NOTHING),
  concurrency = 4,
  slots = new Slots(concurrency, 1),
) {
  const inFlight: { subscription: string; end: () => void }[] = [];
  const recorded: (() => void)[] = [];
  const wanted: Wanted[] = [];
  const dispatcher = new Dispatcher({
    listDue: () => Promise.resolve({ due: [], upTo: null }),
    claim: (asked) => {
      wanted.push(asked);
      return claim(asked);
    },
    deliver: async ({ subscriptionId: subscription }) => {
      await new Promise<void>((end) => inFlight.push({ subscription, end }));
      return { signal: "none", recorded: new Promise<void>((done) => recorded.push(done)) };
    },
    defer: () => Promise.resolve(),
    onContended: () => undefined,
    slots,
    concurrency,
    subscriptionConcurrency: 1,
    pollIntervalMs: 3_600_000,
    onError: (error) => {
      throw error;
    },
  });
  t.after(() => dispatcher.stop());
  return { dispatcher, inFlight, recorded, wanted };
}

const claimOf = (subscriptionId: string) =>
  ({ ...dueOf(subscriptionId)[0], url: "https://receiver/" }) as Claim;

const ownersOf = (...ids: string[]) => new Set(dueOf(...ids).map((due) => due.organizationId));

/**
 * Publishes one event for each of these subscriptions. Returns the subscriptions whose attempts begin at
 * once.
 */
function publish(dispatcher: Dispatcher, ids: string[]): string[] {
  const { slots, except, end } = dispatcher.reserve(ownersOf(...ids));
  const begun = ids.filter((id) => !except.includes(id)).slice(0, slots);
  end(begun.map(claimOf));
  return begun;
}

/** Reserves slots and does not use them. */
function spare(dispatcher: Dispatcher, organizations = ownersOf("any")): number {
  const { slots, end } = dispatcher.reserve(organizations);
  end([]);
  return slots;
}

const nextIteration = () => new Promise(setImmediate);

test("an organization that the pace limits gets no reserved slots", (t) => {
  const thread = { nowMs: 0 };
  const pace = new Pace(
    () => 1,
    () => thread.nowMs,
  );
  const { dispatcher } = aDispatcher(t, undefined, 100, new Slots(100, 50, pace));
  dispatcher.start();
  pace.note("small");
  for (let n = 0; n < 1_000; n++) pace.note("large");
  thread.nowMs += 20;
  const { except, end } = dispatcher.reserve(new Set(["large", "small"]));
  assert.deepEqual(except, ["large"]);
  end([]);
});

test("a delivery that is published with its lease is attempted without a claim", async (t) => {
  const { dispatcher, inFlight, recorded } = aDispatcher(t);
  dispatcher.start();
  publish(dispatcher, ["a", "b"]);
  assert.deepEqual(column(inFlight, "subscription"), ["a", "b"]);
  assert.equal(dispatcher.inFlight, 2);
  for (const { end } of inFlight) end();
  await nextIteration();
  for (const done of recorded) done();
});

test("unused reserved slots are returned", (t) => {
  const { dispatcher } = aDispatcher(t);
  dispatcher.start();
  assert.deepEqual([spare(dispatcher), spare(dispatcher)], [2, 2]);
  assert.equal(dispatcher.inFlight, 0);
});

test("a subscription with due deliveries or without free slots gets no reservation", async (t) => {
  const { dispatcher, inFlight, recorded } = aDispatcher(t, undefined, 256);
  dispatcher.nudge(dueOf("due"));
  dispatcher.start();
  publish(dispatcher, ["saturated"]);
  dispatcher.nudge(dueOf("due of another"));
  const { except, end } = dispatcher.reserve(ownersOf("due", "saturated"));
  end([]);
  assert.deepEqual(except, ["due", "saturated"]);
  inFlight[0]?.end();
  await nextIteration();
  recorded[0]?.();
});

test("what others hold is not excepted, so it costs a publication nothing", async (t) => {
  const { dispatcher, inFlight, recorded } = aDispatcher(t, undefined, 256);
  dispatcher.start();
  publish(dispatcher, ["saturated"]);
  const { except, end } = dispatcher.reserve(ownersOf("any"));
  end([]);
  assert.deepEqual(except, []);
  inFlight[0]?.end();
  await nextIteration();
  recorded[0]?.();
});

test("if many of its subscriptions are due, an organization gets no reservation, and others do", (t) => {
  const { dispatcher } = aDispatcher(t, undefined, 10_000);
  dispatcher.start();
  const ids = Array.from({ length: 1_001 }, (_, i) => `s${i}`);
  dispatcher.nudge(ids.map((subscriptionId) => ({ subscriptionId, organizationId: "large" })));
  assert.deepEqual([spare(dispatcher, new Set(["large"])), spare(dispatcher)], [0, 64]);
});

test("a dispatcher that has not started, or is stopping, reserves nothing", async (t) => {
  const { dispatcher } = aDispatcher(t);
  assert.equal(spare(dispatcher), 0);
  dispatcher.start();
  assert.equal(spare(dispatcher), 2);
  await dispatcher.stop();
  assert.equal(spare(dispatcher), 0);
});

test("stopping waits for reservations, and for the attempts that fill them", async (t) => {
  const { dispatcher, inFlight, recorded } = aDispatcher(t);
  dispatcher.start();
  const { end } = dispatcher.reserve(ownersOf("a"));
  let isStopped = false;
  const stopped = dispatcher.stop().then(() => (isStopped = true));

  await nextIteration();
  assert.equal(isStopped, false, "it waits for the reservation");
  end([claimOf("a")]);
  await nextIteration();
  assert.equal(isStopped, false, "it waits for the attempt");
  inFlight[0]?.end();
  await nextIteration();
  assert.equal(isStopped, false, "it waits for the record");
  recorded[0]?.();
  await stopped;
});

test("while outcomes wait to be recorded, no slots are reserved", async (t) => {
  const { dispatcher, inFlight, recorded } = aDispatcher(t);
  dispatcher.start();
  for (let i = 0; i < 8; i++) {
    publish(dispatcher, [`s${i}`]);
    inFlight.pop()?.end();
    await nextIteration();
  }
  assert.deepEqual([dispatcher.inFlight, recorded.length], [0, 8]);
  assert.equal(spare(dispatcher), 0);
  for (const done of recorded) done();
});

test("a claim cannot use a reserved slot before its attempt begins", async (t) => {
  const { dispatcher, inFlight, recorded, wanted } = aDispatcher(t);
  dispatcher.start();
  await nextIteration();
  const { end } = dispatcher.reserve(ownersOf("a"));
  dispatcher.nudge(dueOf("a")); // The same statement wrote another delivery for it.
  end([claimOf("a")]);
  await nextIteration();
  assert.deepEqual(wanted, []);
  inFlight[0]?.end();
  await nextIteration();
  recorded[0]?.();
});

test("a slot that a running claim may need is not reserved", async (t) => {
  let answer: (taken: Taken) => void = () => undefined;
  const { dispatcher } = aDispatcher(t, () => new Promise((resolve) => (answer = resolve)));
  dispatcher.start();
  await nextIteration();
  dispatcher.nudge(dueOf("busy"));
  await nextIteration();
  assert.equal(spare(dispatcher), 0);
  answer(NOTHING);
  await nextIteration();
  assert.equal(spare(dispatcher), 2);
});
