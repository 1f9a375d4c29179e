import assert from "node:assert/strict";
import { test } from "node:test";
import { FairQueue } from "../../src/lib/fair-queue.ts";

function aQueueOf(...items: string[]): FairQueue<string, string> {
  const queue = new FairQueue<string, string>();
  for (const item of items) queue.add(item.slice(0, 1), item);
  return queue;
}

test("holders take turns, and the items of one holder keep their order", () => {
  const queue = aQueueOf("a1", "a2", "a3", "b1", "c1", "b2");
  const taken = Array.from({ length: 7 }, () => queue.take());
  assert.deepEqual(taken, ["a1", "b1", "c1", "a2", "b2", "a3", undefined]);
});

test("a holder whose item cannot be taken keeps its turn", () => {
  const queue = aQueueOf("a1", "a2", "b1");
  assert.equal(
    queue.take((holder) => holder === "b"),
    "b1",
  );
  assert.deepEqual([queue.take(), queue.take(), queue.take()], ["a1", "a2", undefined]);
});

test("an item that is put back comes before the others of its holder", () => {
  const queue = aQueueOf("a1", "a2");
  queue.putBack("a", queue.take() ?? "");
  assert.deepEqual(queue.takeAll(), ["a1", "a2"]);
  assert.equal(queue.take(), undefined);
});
