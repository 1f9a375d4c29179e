import assert from "node:assert/strict";
import { test } from "node:test";
import { Hands } from "../../src/delivery/hands.ts";

function shares(hands: Hands, subscriptions: string[]): Record<string, number> {
  const wanted = hands.share(subscriptions).shares;
  return Object.fromEntries(wanted.map((s) => [s.subscription_id, s.share]));
}

test("no subscription gets more than its bound, nor more than a handful where others wait", () => {
  const hands = new Hands(64, 20);
  hands.take("a");
  for (let n = 0; n < 10; n++) hands.take("b");
  assert.deepEqual(shares(hands, ["a", "b", "c", "d"]), { a: 16, b: 10, c: 16, d: 16 });
});

test("where few subscriptions wait, they share all hands", () => {
  assert.deepEqual(shares(new Hands(64, 64), ["a", "b"]), { a: 32, b: 32 });
  assert.deepEqual(shares(new Hands(64, 64), ["a"]), { a: 64 });
});

test("a saturated subscription gets nothing until one of its attempts ends", () => {
  const hands = new Hands(10, 2);
  hands.take("hanging");
  hands.take("hanging");
  assert.deepEqual(shares(hands, ["hanging"]), {});
  hands.give("hanging");
  assert.deepEqual(shares(hands, ["hanging"]), { hanging: 1 });
});

test("others stand by, as many as there are hands, in case that the first have less due than their shares", () => {
  assert.deepEqual(new Hands(2, 16).share(["first", "second", "third"]), {
    shares: [
      { subscription_id: "first", share: 16 },
      { subscription_id: "second", share: 16 },
    ],
    limit: 2,
  });
});

test("no more than a burst begins together, however many hands are free", () => {
  assert.equal(new Hands(1_000, 16).share(["a"]).limit, 64);
});

test("no hands, no shares", () => {
  const hands = new Hands(1, 1);
  hands.take("a");
  assert.deepEqual(shares(hands, ["b"]), {});
});

test("what is only now accepted gets a hand while more than half are free, and its subscription has one left", () => {
  const hands = new Hands(6, 2);
  const taken = ["a", "a", "a", "b", "c"].map((id) => hands.takeSpare(id));
  assert.deepEqual(taken, [true, true, false, true, false]);
  assert.equal(hands.busy, 3);
  hands.give("a");
  assert.ok(hands.takeSpare("c"));
});
