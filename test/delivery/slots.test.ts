import assert from "node:assert/strict";
import { test } from "node:test";
import { Slots } from "../../src/delivery/slots.ts";

function shares(slots: Slots, subscriptions: string[]): Record<string, number> {
  const wanted = slots.share(subscriptions).shares;
  return Object.fromEntries(wanted.map((s) => [s.subscription_id, s.share]));
}

test("no subscription gets more than its bound, nor more than sixteen slots at once where others wait", () => {
  const slots = new Slots(64, 20);
  slots.take("a");
  for (let n = 0; n < 10; n++) slots.take("b");
  assert.deepEqual(shares(slots, ["a", "b", "c", "d"]), { a: 16, b: 10, c: 16, d: 16 });
});

test("where few subscriptions wait, they share all slots", () => {
  assert.deepEqual(shares(new Slots(64, 64), ["a", "b"]), { a: 32, b: 32 });
  assert.deepEqual(shares(new Slots(64, 64), ["a"]), { a: 64 });
});

test("a saturated subscription gets nothing until one of its attempts ends", () => {
  const slots = new Slots(10, 2);
  slots.take("hanging");
  slots.take("hanging");
  assert.deepEqual(shares(slots, ["hanging"]), {});
  slots.give("hanging");
  assert.deepEqual(shares(slots, ["hanging"]), { hanging: 1 });
});

test("as many subscriptions are named as slots are free, in case the first have less due than their shares", () => {
  assert.deepEqual(new Slots(2, 16).share(["first", "second", "third"]), {
    shares: [
      { subscription_id: "first", share: 16 },
      { subscription_id: "second", share: 16 },
    ],
    limit: 2,
  });
});

test("no more than a burst begins together, however many slots are free", () => {
  assert.equal(new Slots(1_000, 16).share(["a"]).limit, 64);
});

test("no slots, no shares", () => {
  const slots = new Slots(1, 1);
  slots.take("a");
  assert.deepEqual(shares(slots, ["b"]), {});
});

test("half of the slots are never spare", () => {
  const slots = new Slots(6, 2);
  assert.equal(slots.spare, 3);
  slots.take("a");
  const free = slots.reserve(2);
  assert.deepEqual([slots.spare, slots.free], [0, 3]);
  free();
  assert.deepEqual([slots.spare, slots.free], [2, 5]);
});

test("a subscription at its bound is saturated", () => {
  const slots = new Slots(6, 2);
  for (const id of ["a", "b", "b"]) slots.take(id);
  assert.deepEqual(slots.saturated, ["b"]);
});
