import assert from "node:assert/strict";
import { test } from "node:test";
import { randomId } from "../../src/lib/ids.ts";
import { NudgeFilter } from "../../src/queue/nudge-filter.ts";
import { type DueSubscription, encodeNudge, NUDGE_MAX } from "../../src/queue/rules.ts";
import { aDispatcher } from "../support/dispatcher.ts";

const SELF = randomId();

/** The filter of the process `SELF`, and what it passes on. */
function aFilter(dispatcher: ConstructorParameters<typeof NudgeFilter>[0]) {
  const time = { ms: 0 };
  const passedOn: DueSubscription[] = [];
  const passOn = (due: DueSubscription[]) => void passedOn.push(...due);
  const filter = new NudgeFilter(dispatcher, { self: SELF, passOn, elapsedMs: () => time.ms });
  return { filter, time, passedOn };
}

/** A nudge about subscriptions that do not exist. */
const aFalseNudge = () =>
  encodeNudge(
    Array.from({ length: NUDGE_MAX }, () => ({
      subscriptionId: randomId(),
      organizationId: randomId(),
    })),
  );

test("a flood of false nudges leaves room for this process's own events", (t) => {
  const { dispatcher } = aDispatcher(t, {}); // The dispatcher does not run, so it forgets nothing.
  const { filter, time } = aFilter(dispatcher);
  for (let sent = 0; sent < 100; sent++, time.ms++) filter.accept(aFalseNudge());
  assert.equal(dispatcher.acceptsNudges, false);
  assert.ok(dispatcher.dueCount < 1_000, `${dispatcher.dueCount} subscriptions are remembered`);
});

/** Subscriptions of one organization. */
function manyOf(organizationId: string, count: number) {
  return Array.from({ length: count }, () => ({ subscriptionId: randomId(), organizationId }));
}

test("while an organization has many due subscriptions, nudges about others are accepted", (t) => {
  const { dispatcher } = aDispatcher(t, {});
  const { filter } = aFilter(dispatcher);
  const [hostile, healthy] = [randomId(), randomId()];
  dispatcher.nudge(manyOf(hostile, 2_000));
  filter.accept(encodeNudge([...manyOf(hostile, 10), ...manyOf(healthy, 3)]));
  assert.equal(dispatcher.dueCount, 2_003);
});

test("then false nudges about one organization are accepted only up to its share", (t) => {
  const { dispatcher } = aDispatcher(t, {});
  const { filter, time } = aFilter(dispatcher);
  const one = randomId();
  dispatcher.nudge(manyOf(randomId(), 1_000));
  for (let sent = 0; sent < 100; sent++, time.ms++)
    filter.accept(encodeNudge(manyOf(one, NUDGE_MAX)));
  assert.equal(dispatcher.dueCount, 1_250);
});

/** A dispatcher that only counts what it accepts. */
function aCounter({ isFull = false, acceptsNudges = true } = {}) {
  const accepted: DueSubscription[] = [];
  return {
    accepted,
    isFull,
    acceptsNudges,
    accept: (due: DueSubscription[]) => void accepted.push(...due),
  };
}

test("only a bounded number of simultaneous nudges is read", () => {
  const counter = aCounter();
  const { filter, time } = aFilter(counter);
  const nudge = encodeNudge(manyOf(randomId(), 1));
  for (let sent = 0; sent < 1_000; sent++) filter.accept(nudge);
  assert.equal(counter.accepted.length, 20);
  time.ms += 20;
  filter.accept(nudge);
  assert.equal(counter.accepted.length, 21);
});

test("a nudge for another dispatcher is ignored, and does not count as read", () => {
  const counter = aCounter();
  const { filter } = aFilter(counter);
  const due = manyOf(randomId(), 1);
  for (let sent = 0; sent < 100; sent++) filter.accept(encodeNudge(due, randomId()));
  assert.deepEqual(counter.accepted, []);
  filter.accept(encodeNudge(due, SELF));
  assert.deepEqual(counter.accepted, due);
});

test("a dispatcher that is full or overloaded passes on what was for it alone", () => {
  const due = manyOf(randomId(), 2);
  const passedOnBy = (counter: ReturnType<typeof aCounter>, addressee: string | null) => {
    const { filter, passedOn } = aFilter(counter);
    filter.accept(encodeNudge(due, addressee));
    return passedOn;
  };
  assert.deepEqual(passedOnBy(aCounter({ isFull: true }), SELF), due);
  assert.deepEqual(passedOnBy(aCounter({ acceptsNudges: false }), SELF), due);
  assert.deepEqual(passedOnBy(aCounter(), SELF), []);
  assert.deepEqual(passedOnBy(aCounter({ isFull: true }), null), [], "all got it already");
});
