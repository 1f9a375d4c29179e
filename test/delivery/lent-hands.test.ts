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
const claimAll = (ids: string[]) => (lent: boolean[]) =>
  Promise.resolve(ids.filter((_, index) => lent[index]).map(claimOf));
const turn = () => new Promise(setImmediate);

test("what is accepted claimed is attempted without a claim", async (t) => {
  const { dispatcher, underWay, recorded } = aDispatcher(t);
  dispatcher.start();
  await dispatcher.lend(["a", "b"], claimAll(["a", "b"]));
  assert.deepEqual(
    underWay.map(({ subscription }) => subscription),
    ["a", "b"],
  );
  assert.equal(dispatcher.underWay, 2);
  for (const { end } of underWay) end();
  await turn();
  for (const done of recorded) done();
});

test("a hand that is lent for nothing comes back", async (t) => {
  const { dispatcher } = aDispatcher(t);
  dispatcher.start();
  await dispatcher.lend(["deleted"], () => Promise.resolve([]));
  assert.equal(dispatcher.underWay, 0);
  const away = new Error("the database is away");
  await assert.rejects(
    dispatcher.lend(["a"], () => Promise.reject(away)),
    away,
  );
  assert.equal(dispatcher.underWay, 0);
});

test("a subscription that has something due is lent no hand: that goes first", async (t) => {
  const { dispatcher } = aDispatcher(t, () => Promise.resolve([]), 256);
  dispatcher.nudge(["busy"]);
  dispatcher.start();
  let given: boolean[] = [];
  await dispatcher.lend(["busy", "other"], (lent) => {
    given = lent;
    return Promise.resolve([]);
  });
  assert.deepEqual(given, [false, true]);
});

test("who has not started, or is stopping, lends nothing", async (t) => {
  const { dispatcher } = aDispatcher(t);
  const given: boolean[] = [];
  const ask = () =>
    dispatcher.lend(["a"], (lent) => {
      given.push(...lent);
      return Promise.resolve([]);
    });
  await ask();
  dispatcher.start();
  await ask();
  await dispatcher.stop();
  await ask();
  assert.deepEqual(given, [false, true, false]);
});

test("stopping waits for what is being accepted, and for the attempts that come of it", async (t) => {
  const { dispatcher, underWay, recorded } = aDispatcher(t);
  dispatcher.start();
  let write: () => void = () => undefined;
  const written = new Promise<void>((resolve) => (write = resolve));
  const lending = dispatcher.lend(["a"], async (lent) => {
    await written;
    return claimAll(["a"])(lent);
  });
  let isStopped = false;
  const stopped = dispatcher.stop().then(() => (isStopped = true));

  await turn();
  assert.equal(isStopped, false, "it waits for the accept");
  write();
  await lending;
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
    await dispatcher.lend([`s${i}`], claimAll([`s${i}`]));
    underWay.pop()?.end();
    await turn();
  }
  assert.deepEqual([dispatcher.underWay, recorded.length], [0, 8]);
  let given: boolean[] = [];
  await dispatcher.lend(["one more"], (lent) => {
    given = lent;
    return Promise.resolve([]);
  });
  assert.deepEqual(given, [false]);
  for (const done of recorded) done();
});

test("a hand that is lent is not free to a claim before its attempt has begun", async (t) => {
  const { dispatcher, underWay, recorded, wanted } = aDispatcher(t);
  dispatcher.start();
  await turn();
  await dispatcher.lend(["a"], async (lent) => {
    const claims = await claimAll(["a"])(lent);
    dispatcher.nudge(["a"]); // Something else was accepted for it in the same statement.
    return claims;
  });
  await turn();
  assert.deepEqual(wanted, []);
  underWay[0]?.end();
  await turn();
  recorded[0]?.();
});

test("a hand that a claim under way may need is lent to nobody", async (t) => {
  let answer: (claims: Claim[]) => void = () => undefined;
  const { dispatcher } = aDispatcher(t, () => new Promise((resolve) => (answer = resolve)));
  const given: boolean[] = [];
  const ask = () =>
    dispatcher.lend(["a"], (lent) => {
      given.push(...lent);
      return Promise.resolve([]);
    });
  dispatcher.start();
  await turn();
  dispatcher.nudge(["busy"]);
  await turn();
  await ask();
  answer([]);
  await turn();
  await ask();
  assert.deepEqual(given, [false, true]);
});
