import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setImmediate } from "node:timers/promises";
import { randomId } from "../../src/lib/ids.ts";
import { type Addressees, NudgeQueue } from "../../src/queue/nudging.ts";
import { addresseeOf, decodeNudge, NUDGE_MAX } from "../../src/queue/rules.ts";

const some = (count: number) =>
  Array.from({ length: count }, () => ({
    organizationId: randomId(),
    subscriptionId: randomId(),
  }));

interface Options {
  isSlow?: boolean;
  addressees?: Pick<Addressees, "next" | "paceMs"> | null;
}

/** A queue on a clock that the test moves, and the nudges with their sizes. */
function aQueue(t: TestContext, { isSlow = false, addressees = null }: Options = {}) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let now = 1_000;
  t.mock.method(performance, "now", () => now);
  const sent: number[] = [];
  const nudges: string[] = [];
  let answer: () => void = () => undefined;
  const outgoing = new NudgeQueue(async (nudge) => {
    nudges.push(nudge);
    sent.push(decodeNudge(nudge).length);
    if (isSlow) await new Promise<void>((resolve) => (answer = resolve));
  }, addressees);
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed++) {
      now++;
      t.mock.timers.tick(1);
      await setImmediate();
    }
  };
  return { outgoing, sent, nudges, pass, answer: () => answer() };
}

test("the first publish of a burst sends a nudge at once, the rest share one", async (t) => {
  const { outgoing, sent, pass } = aQueue(t);
  outgoing.add(some(1));
  await pass(1);
  assert.deepEqual(sent, [1]);
  for (const due of some(10)) outgoing.add([due]);
  await pass(20);
  assert.deepEqual(sent, [1, 10]);
});

test("at most 50 nudges are sent in a second", async (t) => {
  const { outgoing, sent, pass } = aQueue(t);
  for (let ms = 0; ms < 1_000; ms++) {
    outgoing.add(some(1));
    await pass(1);
  }
  assert.ok(sent.length > 40 && sent.length <= 50, `${sent.length}`);
});

test("addressees set the pace, and get the nudges in turn", async (t) => {
  const ids = [randomId(), randomId()];
  let next = 0;
  const addressees = { next: () => ids[next++ % ids.length] ?? null, paceMs: 5 };
  const { outgoing, nudges, pass } = aQueue(t, { addressees });
  for (let ms = 0; ms < 100; ms++) {
    outgoing.add(some(1));
    await pass(1);
  }
  assert.equal(nudges.length, 20);
  assert.deepEqual(nudges.slice(0, 2).map(addresseeOf), ids);
});

test("one nudge is sent at a time", async (t) => {
  const { outgoing, sent, pass, answer } = aQueue(t, { isSlow: true });
  outgoing.add(some(1));
  await pass(1);
  outgoing.add(some(2));
  await pass(1_000);
  assert.deepEqual(sent, [1]);
  answer();
  await pass(20);
  assert.deepEqual(sent, [1, 2]);
});

test("a nudge names a subscription once, and those that do not fit go with the next nudge", async (t) => {
  const { outgoing, sent, pass } = aQueue(t);
  const due = some(NUDGE_MAX + 1);
  outgoing.add(due);
  outgoing.add(due);
  await pass(100);
  assert.deepEqual(sent, [NUDGE_MAX, 1]);
});

test("at most 10,000 subscriptions wait for a nudge", async (t) => {
  const { outgoing, sent, pass } = aQueue(t);
  outgoing.add(some(10_001));
  await pass(2_000);
  assert.equal(
    sent.reduce((a, b) => a + b),
    10_000,
  );
});

test("a stop sends the waiting subscriptions", async (t) => {
  const { outgoing, sent } = aQueue(t);
  outgoing.add(some(3));
  await outgoing.stop();
  assert.deepEqual(sent, [3]);
});

test("a failed nudge is not repeated, and the next nudge is sent", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let sent = 0;
  const outgoing = new NudgeQueue(() => {
    sent++;
    return Promise.reject(new Error("away"));
  });
  outgoing.add(some(1));
  await outgoing.stop();
  outgoing.add(some(1));
  await outgoing.stop();
  assert.equal(sent, 2);
});
