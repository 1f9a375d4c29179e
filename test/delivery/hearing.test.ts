import assert from "node:assert/strict";
import { test } from "node:test";
import { Hearing } from "../../src/delivery/hearing.ts";
import { encodeNotice, NOTICE_MAX } from "../../src/domain/due-notice.ts";
import { randomId } from "../../src/domain/ids.ts";
import { aDispatcher } from "../support/dispatcher.ts";

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
  const time = { ms: 0 };
  const hearing = new Hearing(dispatcher, () => time.ms++);
  for (let sent = 0; sent < 100; sent++) hearing.hear(aFalseNotice());
  assert.equal(dispatcher.isHearing, false);
  assert.ok(dispatcher.dueCount < 1_000, `${dispatcher.dueCount} subscriptions are remembered`);
});

/** Subscriptions of one organization. */
function manyOf(organizationId: string, count: number) {
  return Array.from({ length: count }, () => ({ subscriptionId: randomId(), organizationId }));
}

test("while an organization has many due subscriptions, notices about others are heard", (t) => {
  const { dispatcher } = aDispatcher(t, {});
  const hearing = new Hearing(dispatcher);
  const [hostile, healthy] = [randomId(), randomId()];
  dispatcher.nudge(manyOf(hostile, 2_000));
  hearing.hear(encodeNotice([...manyOf(hostile, 10), ...manyOf(healthy, 3)]));
  assert.equal(dispatcher.dueCount, 2_003);
});

test("then false notices about one organization are heard only up to its share", (t) => {
  const { dispatcher } = aDispatcher(t, {});
  const time = { ms: 0 };
  const hearing = new Hearing(dispatcher, () => time.ms++);
  const one = randomId();
  dispatcher.nudge(manyOf(randomId(), 1_000));
  for (let sent = 0; sent < 100; sent++) hearing.hear(encodeNotice(manyOf(one, NOTICE_MAX)));
  assert.equal(dispatcher.dueCount, 1_250);
});

test("only a bounded number of simultaneous notices is read", () => {
  const time = { ms: 0 };
  let read = 0;
  const hear = () => {
    read++;
  };
  const hearing = new Hearing({ isHearing: true, hear }, () => time.ms);
  const notice = aFalseNotice();
  for (let sent = 0; sent < 1_000; sent++) hearing.hear(notice);
  assert.equal(read, 20);
  time.ms += 20;
  hearing.hear(notice);
  assert.equal(read, 21);
});
