import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Claim, Wanted } from "../../src/actions/claims.ts";
import { Dispatcher } from "../../src/delivery/dispatcher.ts";

/** A dispatcher without a queue, whose attempts and records end when the test says so. */
function aDispatcher(
  t: TestContext,
  claim: (wanted: Wanted) => Promise<Claim[]> = () => Promise.resolve([]),
  concurrency = 4,
) {
  const underWay: { subscription: string; end: () => void }[] = [];
  const recorded: (() => void)[] = [];
  const wanted: Wanted[] = [];
  const dispatcher = new Dispatcher({
    listDue: () => Promise.resolve({ due: [], upTo: null }),
    claim: (asked) => {
      wanted.push(asked);
      return claim(asked);
    },
    deliver: async ({ subscription_id: subscription }) => {
      await new Promise<void>((end) => underWay.push({ subscription, end }));
      return { recorded: new Promise<void>((done) => recorded.push(done)) };
    },
    concurrency,
    subscriptionConcurrency: 1,
    pollIntervalMs: 3_600_000,
    onError: (error) => {
      throw error;
    },
  });
  t.after(() => dispatcher.stop());
  return { dispatcher, underWay, recorded, wanted };
}

const claimOf = (subscription_id: string) => ({ subscription_id }) as Claim;

/** Accepts for these subscriptions, and answers which of them got a hand. */
function accept(dispatcher: Dispatcher, ids: string[]): boolean[] {
  const { lent, settle } = dispatcher.lend(ids);
  settle(ids.filter((_, index) => lent[index]).map(claimOf));
  return lent;
}

/** Asks for hands, has no use for them, and answers who would have got one. */
function ask(dispatcher: Dispatcher, ids: string[]): boolean[] {
  const { lent, settle } = dispatcher.lend(ids);
  settle([]);
  return lent;
}

const turn = () => new Promise(setImmediate);

test("what is accepted claimed is attempted without a claim", async (t) => {
  const { dispatcher, underWay, recorded } = aDispatcher(t);
  dispatcher.start();
  accept(dispatcher, ["a", "b"]);
  assert.deepEqual(
    underWay.map(({ subscription }) => subscription),
    ["a", "b"],
  );
  assert.equal(dispatcher.underWay, 2);
  for (const { end } of underWay) end();
  await turn();
  for (const done of recorded) done();
});

test("a hand that is lent for nothing comes back", (t) => {
  const { dispatcher } = aDispatcher(t);
  dispatcher.start();
  assert.deepEqual(ask(dispatcher, ["deleted"]), [true]);
  assert.equal(dispatcher.underWay, 0);
});

test("a subscription that has something due is lent no hand: that goes first", (t) => {
  const { dispatcher } = aDispatcher(t, () => Promise.resolve([]), 256);
  dispatcher.nudge(["busy"]);
  dispatcher.start();
  assert.deepEqual(ask(dispatcher, ["busy", "other"]), [false, true]);
});

test("who has not started, or is stopping, lends nothing", async (t) => {
  const { dispatcher } = aDispatcher(t);
  assert.deepEqual(ask(dispatcher, ["a"]), [false]);
  dispatcher.start();
  assert.deepEqual(ask(dispatcher, ["a"]), [true]);
  await dispatcher.stop();
  assert.deepEqual(ask(dispatcher, ["a"]), [false]);
});

test("stopping waits for what is being accepted, and for the attempts that come of it", async (t) => {
  const { dispatcher, underWay, recorded } = aDispatcher(t);
  dispatcher.start();
  const { settle } = dispatcher.lend(["a"]);
  let isStopped = false;
  const stopped = dispatcher.stop().then(() => (isStopped = true));

  await turn();
  assert.equal(isStopped, false, "it waits for the accept");
  settle([claimOf("a")]);
  await turn();
  assert.equal(isStopped, false, "it waits for the attempt");
  underWay[0]?.end();
  await turn();
  assert.equal(isStopped, false, "it waits for the record");
  recorded[0]?.();
  await stopped;
});

test("while outcomes wait to be recorded, no hands are lent either", async (t) => {
  const { dispatcher, underWay, recorded } = aDispatcher(t);
  dispatcher.start();
  for (let i = 0; i < 8; i++) {
    accept(dispatcher, [`s${i}`]);
    underWay.pop()?.end();
    await turn();
  }
  assert.deepEqual([dispatcher.underWay, recorded.length], [0, 8]);
  assert.deepEqual(ask(dispatcher, ["one more"]), [false]);
  for (const done of recorded) done();
});

test("a hand that is lent is not free to a claim before its attempt has begun", async (t) => {
  const { dispatcher, underWay, recorded, wanted } = aDispatcher(t);
  dispatcher.start();
  await turn();
  const { settle } = dispatcher.lend(["a"]);
  dispatcher.nudge(["a"]); // Something else was accepted for it in the same statement.
  settle([claimOf("a")]);
  await turn();
  assert.deepEqual(wanted, []);
  underWay[0]?.end();
  await turn();
  recorded[0]?.();
});

test("a hand that a claim under way may need is lent to nobody", async (t) => {
  let answer: (claims: Claim[]) => void = () => undefined;
  const { dispatcher } = aDispatcher(t, () => new Promise((resolve) => (answer = resolve)));
  dispatcher.start();
  await turn();
  dispatcher.nudge(["busy"]);
  await turn();
  assert.deepEqual(ask(dispatcher, ["a"]), [false]);
  answer([]);
  await turn();
  assert.deepEqual(ask(dispatcher, ["a"]), [true]);
});
