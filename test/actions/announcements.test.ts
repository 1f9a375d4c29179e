import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setImmediate } from "node:timers/promises";
import { Announcements } from "../../src/actions/announcements.ts";
import { decodeNotice, NOTICE_MAX } from "../../src/domain/due-notice.ts";
import { randomId } from "../../src/domain/ids.ts";

const some = (count: number) =>
  Array.from({ length: count }, () => ({
    organizationId: randomId(),
    subscriptionId: randomId(),
  }));

/** Announcements on a clock that the test moves, and the size of each notice. */
function aSender(t: TestContext, { isSlow = false } = {}) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let now = 1_000;
  t.mock.method(performance, "now", () => now);
  const sent: number[] = [];
  let answer: () => void = () => undefined;
  const announcements = new Announcements(async (notice) => {
    sent.push(decodeNotice(notice).length);
    if (isSlow) await new Promise<void>((resolve) => (answer = resolve));
  });
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed++) {
      now++;
      t.mock.timers.tick(1);
      await setImmediate();
    }
  };
  return { announcements, sent, pass, answer: () => answer() };
}

test("the first publish of a burst sends a notice at once, the rest share one", async (t) => {
  const { announcements, sent, pass } = aSender(t);
  announcements.add(some(1));
  await pass(1);
  assert.deepEqual(sent, [1]);
  for (const due of some(10)) announcements.add([due]);
  await pass(20);
  assert.deepEqual(sent, [1, 10]);
});

test("at most 50 notices are sent in a second", async (t) => {
  const { announcements, sent, pass } = aSender(t);
  for (let ms = 0; ms < 1_000; ms++) {
    announcements.add(some(1));
    await pass(1);
  }
  assert.ok(sent.length > 40 && sent.length <= 50, `${sent.length}`);
});

test("one notice is sent at a time", async (t) => {
  const { announcements, sent, pass, answer } = aSender(t, { isSlow: true });
  announcements.add(some(1));
  await pass(1);
  announcements.add(some(2));
  await pass(1_000);
  assert.deepEqual(sent, [1]);
  answer();
  await pass(20);
  assert.deepEqual(sent, [1, 2]);
});

test("a notice names a subscription once, and those that do not fit go with the next notice", async (t) => {
  const { announcements, sent, pass } = aSender(t);
  const due = some(NOTICE_MAX + 1);
  announcements.add(due);
  announcements.add(due);
  await pass(100);
  assert.deepEqual(sent, [NOTICE_MAX, 1]);
});

test("at most 10,000 subscriptions wait for a notice", async (t) => {
  const { announcements, sent, pass } = aSender(t);
  announcements.add(some(10_001));
  await pass(2_000);
  assert.equal(
    sent.reduce((a, b) => a + b),
    10_000,
  );
});

test("a stop sends the waiting subscriptions", async (t) => {
  const { announcements, sent } = aSender(t);
  announcements.add(some(3));
  await announcements.stop();
  assert.deepEqual(sent, [3]);
});

test("a failed notice is not repeated, and the next notice is sent", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let sent = 0;
  const announcements = new Announcements(() => {
    sent++;
    return Promise.reject(new Error("away"));
  });
  announcements.add(some(1));
  await announcements.stop();
  announcements.add(some(1));
  await announcements.stop();
  assert.equal(sent, 2);
});
