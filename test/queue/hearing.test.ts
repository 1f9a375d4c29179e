import assert from "node:assert/strict";
import { test } from "node:test";
import { randomId } from "../../src/lib/ids.ts";
import { Hearing } from "../../src/queue/hearing.ts";
import { type DueSubscription, encodeNotice, NOTICE_MAX } from "../../src/queue/rules.ts";
import { aDispatcher } from "../support/dispatcher.ts";

const SELF = randomId();

/** The ear of the process `SELF`, and what it passes on. */
function anEar(dispatcher: ConstructorParameters<typeof Hearing>[0]) {
  const time = { ms: 0 };
  const passedOn: DueSubscription[] = [];
  const passOn = (due: DueSubscription[]) => void passedOn.push(...due);
  const hearing = new Hearing(dispatcher, { self: SELF, passOn, elapsedMs: () => time.ms });
  return { hearing, time, passedOn };
}

/** A notice about subscriptions that do not exist. */
const aFalseNotice = () =>
  encodeNotice(
    Array.from({ length: NOTICE_MAX }, () => ({
      subscriptionId: randomId(),
      organizationId: randomId(),
    })),
  );

test("a flood of false notices leaves room for this process's own events", (t) => {
  const { dispatcher } = aDispatcher(t, {}); // The dispatcher does not run, so it forgets nothing.
  const { hearing, time } = anEar(dispatcher);
  for (let sent = 0; sent < 100; sent++, time.ms++) hearing.hear(aFalseNotice());
  assert.equal(dispatcher.isHearing, false);
  assert.ok(dispatcher.dueCount < 1_000, `${dispatcher.dueCount} subscriptions are remembered`);
});

/** Subscriptions of one organization. */
function manyOf(organizationId: string, count: number) {
  return Array.from({ length: count }, () => ({ subscriptionId: randomId(), organizationId }));
}

test("while an organization has many due subscriptions, notices about others are heard", (t) => {
  const { dispatcher } = aDispatcher(t, {});
  const { hearing } = anEar(dispatcher);
  const [hostile, healthy] = [randomId(), randomId()];
  dispatcher.nudge(manyOf(hostile, 2_000));
  hearing.hear(encodeNotice([...manyOf(hostile, 10), ...manyOf(healthy, 3)]));
  assert.equal(dispatcher.dueCount, 2_003);
});

test("then false notices about one organization are heard only up to its share", (t) => {
  const { dispatcher } = aDispatcher(t, {});
  const { hearing, time } = anEar(dispatcher);
  const one = randomId();
  dispatcher.nudge(manyOf(randomId(), 1_000));
  for (let sent = 0; sent < 100; sent++, time.ms++)
    hearing.hear(encodeNotice(manyOf(one, NOTICE_MAX)));
  assert.equal(dispatcher.dueCount, 1_250);
});

/** A dispatcher that only counts what it hears. */
function aListener({ isFull = false, isHearing = true } = {}) {
  const heard: DueSubscription[] = [];
  return { heard, isFull, isHearing, hear: (due: DueSubscription[]) => void heard.push(...due) };
}

test("only a bounded number of simultaneous notices is read", () => {
  const listener = aListener();
  const { hearing, time } = anEar(listener);
  const notice = encodeNotice(manyOf(randomId(), 1));
  for (let sent = 0; sent < 1_000; sent++) hearing.hear(notice);
  assert.equal(listener.heard.length, 20);
  time.ms += 20;
  hearing.hear(notice);
  assert.equal(listener.heard.length, 21);
});

test("a notice for another dispatcher is not heard, and does not count as read", () => {
  const listener = aListener();
  const { hearing } = anEar(listener);
  const due = manyOf(randomId(), 1);
  for (let sent = 0; sent < 100; sent++) hearing.hear(encodeNotice(due, randomId()));
  assert.deepEqual(listener.heard, []);
  hearing.hear(encodeNotice(due, SELF));
  assert.deepEqual(listener.heard, due);
});

test("a dispatcher that is full or overloaded passes on what was for it alone", () => {
  const due = manyOf(randomId(), 2);
  const passedOnBy = (listener: ReturnType<typeof aListener>, addressee: string | null) => {
    const { hearing, passedOn } = anEar(listener);
    hearing.hear(encodeNotice(due, addressee));
    return passedOn;
  };
  assert.deepEqual(passedOnBy(aListener({ isFull: true }), SELF), due);
  assert.deepEqual(passedOnBy(aListener({ isHearing: false }), SELF), due);
  assert.deepEqual(passedOnBy(aListener(), SELF), []);
  assert.deepEqual(passedOnBy(aListener({ isFull: true }), null), [], "all heard it already");
});
