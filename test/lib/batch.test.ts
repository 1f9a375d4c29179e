import assert from "node:assert/strict";
import { test } from "node:test";
import { batch, type BatchOptions, type Refusal } from "../../src/lib/batch.ts";

class Refused extends Error {
  readonly why: Refusal;

  constructor(why: Refusal) {
    super(why);
    this.why = why;
  }
}

const refuse = (why: Refusal) => new Refused(why);
const isOverdue = (error: unknown) => error instanceof Refused && error.why === "overdue";
const isFull = (error: unknown) => error instanceof Refused && error.why === "full";

/** A batch that returns its items, and the items of each run. */
function aRecord<Item>(
  options: BatchOptions,
  holderOf?: (item: Item) => string,
  weightOf?: (item: Item) => number,
) {
  const batches: Item[][] = [];
  const run = (items: Item[]) => {
    batches.push(items);
    return Promise.resolve(items);
  };
  return { batches, same: batch(run, options, holderOf, weightOf) };
}

test("calls of one tick become one batch, and each gets its own result", async () => {
  const batches: number[][] = [];
  const double = batch(
    (items: number[]) => {
      batches.push(items);
      return Promise.resolve(items.map((item) => item * 2));
    },
    { max: 10 },
  );
  assert.deepEqual(await Promise.all([double(1), double(2), double(3)]), [2, 4, 6]);
  assert.deepEqual(batches, [[1, 2, 3]]);
});

test("a batch has at most its maximum of calls, and the rest follows in order", async () => {
  const { batches, same } = aRecord<number>({ max: 4 });
  const items = Array.from({ length: 10 }, (_, i) => i);
  assert.deepEqual(await Promise.all(items.map((item) => same(item))), items);
  const sizes = batches.map(({ length }) => length);
  assert.deepEqual(sizes, [4, 4, 2]);
});

test("a batch of enough calls starts at once, and later calls of the tick go with the next", async () => {
  const { batches, same } = aRecord<number>({ max: 10, enough: 3 });
  const calls = [1, 2, 3, 4, 5].map((item) => same(item));
  assert.deepEqual(batches, [[1, 2, 3]]);
  assert.deepEqual(await Promise.all(calls), [1, 2, 3, 4, 5]);
  assert.deepEqual(batches.slice(1), [[4, 5]]);
});

test("with a wait, the first call of a batch waits for others, but for no more than enough", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { batches, same } = aRecord<number>({ max: 10, enough: 3, waitMs: 50 });
  const few = [same(1), same(2)];
  t.mock.timers.tick(49);
  await new Promise(setImmediate);
  assert.deepEqual(batches, []);
  t.mock.timers.tick(1);
  await Promise.all(few);
  await Promise.all([same(3), same(4), same(5)]);
  assert.deepEqual(batches, [
    [1, 2],
    [3, 4, 5],
  ]);
});

test("the next batch starts before the callers of the last one continue", async () => {
  const seen: string[] = [];
  const asked: Promise<number>[] = [];
  const call = batch(
    (items: string[]) => {
      seen.push(`batch of ${items.join()}`);
      if (items.includes("a")) ask("b");
      return Promise.resolve(items);
    },
    { max: 10 },
  );
  const ask = (item: string) => asked.push(call(item).then((it) => seen.push(`answer to ${it}`)));

  ask("a");
  await new Promise(setImmediate);
  await Promise.all(asked);
  assert.deepEqual(seen, ["batch of a", "batch of b", "answer to a", "answer to b"]);
});

test("if more calls wait than a batch holds, their holders take turns", async () => {
  const { batches, same } = aRecord<string>({ max: 3 }, (item) => item.slice(0, 1));
  const calls = ["a1", "a2", "a3", "a4", "a5", "b1", "b2", "c1"].map(same);
  assert.equal((await Promise.all(calls)).join(" "), "a1 a2 a3 a4 a5 b1 b2 c1");
  assert.deepEqual(
    batches.map((items) => items.join(" ")),
    ["a1 a2 a3", "a4 b1 c1", "a5 b2"],
  );
});

test("the calls of a batch weigh at most its maximum, and a heavier one has a batch of its own", async () => {
  const weightOf = (item: number) => item;
  const { batches, same } = aRecord<number>({ max: 5, enough: Infinity }, undefined, weightOf);
  assert.deepEqual(await Promise.all([2, 3, 1, 9, 1, 1].map(same)), [2, 3, 1, 9, 1, 1]);
  assert.deepEqual(batches, [[2, 3], [1], [9], [1, 1]]);
});

test("one batch runs at a time, and calls that arrive meanwhile share the next", async () => {
  let inFlight = 0;
  let most = 0;
  const call = batch(
    async (items: number[]) => {
      most = Math.max(most, ++inFlight);
      await new Promise(setImmediate);
      inFlight--;
      return items;
    },
    { max: 3 },
  );
  await Promise.all(Array.from({ length: 20 }, (_, i) => call(i)));
  assert.equal(most, 1);
});

test("a batch that fails fails its own calls and no later ones", async () => {
  const picky = batch(
    (items: string[]) =>
      items.includes("bad") ? Promise.reject(new Error("no")) : Promise.resolve(items),
    { max: 10 },
  );
  const [first, second] = await Promise.allSettled([picky("bad"), picky("with it")]);
  assert.deepEqual([first.status, second.status], ["rejected", "rejected"]);
  assert.equal(await picky("good"), "good");
});

test("a batch that throws before it has begun fails its own calls and no later ones", async () => {
  const picky = batch(
    (items: string[]) => {
      if (items.includes("bad")) throw new Error("no");
      return Promise.resolve(items);
    },
    { max: 1 },
  );
  const [first, second] = await Promise.allSettled([picky("bad"), picky("good")]);
  assert.deepEqual([first.status, second.status], ["rejected", "fulfilled"]);
});

test("if no batch ends, calls beyond ten thousand waiting ones are refused", async () => {
  const stuck = batch(() => new Promise<never[]>(() => undefined), { max: 1, refuse });
  const inFlight = 1;
  const calls = Array.from({ length: inFlight + 10_001 }, () => stuck(0));
  await assert.rejects(Promise.race(calls), isFull);
});

test("a batch that takes too long fails its callers, and later callers fail at once until it ends", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let batches = 0;
  let end: (() => void) | undefined;
  const call = batch(
    async (items: string[]) => {
      if (++batches === 1) await new Promise<void>((resolve) => (end = resolve));
      return items;
    },
    { max: 1, patienceMs: 10, refuse },
  );

  const settled = Promise.allSettled([call("stuck"), call("behind it")]);
  await new Promise(setImmediate);
  t.mock.timers.tick(10);
  const [stuck, behind] = await settled;
  assert.ok(stuck.status === "rejected" && isOverdue(stuck.reason));
  assert.ok(behind.status === "rejected" && isOverdue(behind.reason));
  await assert.rejects(call("later"), isOverdue);
  assert.equal(batches, 1);

  end?.();
  await new Promise(setImmediate);
  assert.equal(await call("afterwards"), "afterwards");
});

test("after a timeout callers wait briefly until a batch succeeds", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const ends: ((results: string[] | Promise<never>) => void)[] = [];
  const call = batch(() => new Promise<string[]>((end) => ends.push(end)), {
    max: 1,
    patienceMs: 5_000,
  });
  const endWith = async (results: string[] | Promise<never>) => {
    ends.pop()?.(results);
    await new Promise(setImmediate);
  };
  const isRefusedAfter = async (ms: number) => {
    let isRefused = false;
    call("stuck").catch(() => (isRefused = true));
    await new Promise(setImmediate);
    t.mock.timers.tick(ms - 1);
    await new Promise(setImmediate);
    assert.equal(isRefused, false);
    t.mock.timers.tick(1);
    await new Promise(setImmediate);
    assert.equal(isRefused, true);
  };

  await isRefusedAfter(5_000);
  await endWith(Promise.reject(new Error("a statement timeout")));
  await isRefusedAfter(500);
  await endWith(["too late"]);
  await isRefusedAfter(5_000);
});

test("a call is refused with its reason: too many wait, or a batch takes too long", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const call = batch(() => new Promise<never[]>(() => undefined), {
    ...{ max: 1, waitingMax: 1, patienceMs: 20, refuse },
  });
  const first = assert.rejects(call(1), isOverdue);
  await new Promise(setImmediate);
  const second = assert.rejects(call(2), isOverdue);
  await assert.rejects(call(3), isFull);
  t.mock.timers.tick(20);
  await Promise.all([first, second]);
  await assert.rejects(call(4), isOverdue);
});
