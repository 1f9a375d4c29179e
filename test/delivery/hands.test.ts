import assert from "node:assert/strict";
import { test } from "node:test";
import { Hands } from "../../src/delivery/hands.ts";

function shares(hands: Hands, subscriptions: string[]): Record<string, number> {
  return Object.fromEntries(hands.share(subscriptions).map((s) => [s.subscription_id, s.share]));
}

test("free hands are shared out evenly", () => {
  assert.deepEqual(shares(new Hands(21, 9), ["a", "b", "c"]), { a: 7, b: 7, c: 7 });
});

test("no subscription gets more than its bound, and what it may not have goes to the others", () => {
  const hands = new Hands(10, 4);
  hands.take("a");
  hands.take("a");
  hands.take("a");
  assert.deepEqual(shares(hands, ["a", "b", "c"]), { a: 1, b: 3, c: 3 });
});

test("a saturated subscription gets nothing until one of its attempts ends", () => {
  const hands = new Hands(10, 2);
  hands.take("hanging");
  hands.take("hanging");
  assert.deepEqual(shares(hands, ["hanging"]), {});
  hands.give("hanging");
  assert.deepEqual(shares(hands, ["hanging"]), { hanging: 1 });
});

test("the longest waiting go first, a handful each, when there are too few hands for all", () => {
  const hands = new Hands(32, 32);
  assert.deepEqual(shares(hands, ["first", "second", "third"]), { first: 16, second: 16 });
});

test("no more than a burst begins together, however many hands are free", () => {
  const many = Array.from({ length: 100 }, (_, i) => `s${i}`);
  const given = Object.values(shares(new Hands(1_000, 16), many));
  assert.equal(
    given.reduce((sum, share) => sum + share),
    64,
  );
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
