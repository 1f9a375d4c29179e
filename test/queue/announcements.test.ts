import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setImmediate } from "node:timers/promises";
import { randomId } from "../../src/lib/ids.ts";
import { type Addressees, Announcements } from "../../src/queue/nudging.ts";
import { addresseeOf, decodeNotice, NOTICE_MAX } from "../../src/queue/rules.ts";

const some = (count: number) =>
  Array.from({ length: count }, () => ({
    organizationId: randomId(),
    subscriptionId: randomId(),
  }));

interface Options {
  isSlow?: boolean;
  addressees?: Pick<Addressees, "next" | "paceMs"> | null;
}

/** Announcements on a clock that the test moves, and the notices with their sizes. */
function aSender(t: TestContext, { isSlow = false, addressees = null }: Options = {}) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let now = 1_000;
  t.mock.method(performance, "now", () => now);
  const sent: number[] = [];
  const notices: string[] = [];
  let answer: () => void = () => undefined;
  const announcements = new Announcements(async (notice) => {
    notices.push(notice);
    sent.push(decodeNotice(notice).length);
    if (isSlow) await new Promise<void>((resolve) => (answer = resolve));
  }, addressees);
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed++) {
      now++;
      t.mock.timers.tick(1);
      await setImmediate();
    }
  };
  return { announcements, sent, notices, pass, answer: () => answer() };
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

test("addressees set the pace, and get the notices in turn", async (t) => {
  const ids = [randomId(), randomId()];
  let turn = 0;
  const addressees = { next: () => ids[turn++ % ids.length] ?? null, paceMs: 5 };
  const { announcements, notices, pass } = aSender(t, { addressees });
  for (let ms = 0; ms < 100; ms++) {
    announcements.add(some(1));
    await pass(1);
  }
  assert.equal(notices.length, 20);
  assert.deepEqual(notices.slice(0, 2).map(addresseeOf), ids);
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
