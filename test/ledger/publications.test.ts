import assert from "node:assert/strict";
import { test } from "node:test";
import { faultsOfPublishing, type Ledgered } from "./publications.ts";

const told = (...answers: [string, ...string[]][]) => ({
  sent: new Map(answers.map(([key]) => [key, 1])),
  answers: new Map(
    answers.filter(([, event]) => event).map(([key, ...events]) => [key, new Set(events)]),
  ),
});
const GOOD: Ledgered = {
  keys: [{ key: "k", event: "e" }],
  events: ["e"],
  orders: [{ key: "k", event: "e" }],
};

test("one event for each key is no fault", () => {
  assert.deepEqual(faultsOfPublishing(told(["k", "e"]), GOOD), []);
  assert.deepEqual(faultsOfPublishing(told(["k", "e"]), { ...GOOD, orders: [] }), []);
});

const CONTRADICTIONS: [string, ReturnType<typeof told>, Ledgered, RegExp][] = [
  ["a key without an answer", told(["k", "e"], ["l"]), GOOD, /^l: it has no answer/],
  [
    "two answers with different events for a key",
    told(["k", "e", "f"]),
    GOOD,
    /^k: .* of 2 events/,
  ],
  ["another event than in the answer", told(["k", "f"]), GOOD, /^k: .* of another event/],
  [
    "a key that is not stored",
    told(["k", "e"]),
    { ...GOOD, keys: [], orders: [] },
    /^k: it is not/,
  ],
  [
    "an event that is missing",
    told(["k", "e"]),
    { ...GOOD, events: [] },
    /^k: its event is missing/,
  ],
  ["a second event", told(["k", "e"]), { ...GOOD, events: ["e", "f"] }, /^f: it has no key/],
  [
    "an order whose event was not published",
    told(["k", "e"]),
    { ...GOOD, orders: [{ key: "l", event: "x" }] },
    /^l: its order has another event/,
  ],
];

for (const [what, publications, ledgered, fault] of CONTRADICTIONS) {
  test(`${what} is a fault`, () => {
    assert.match(faultsOfPublishing(publications, ledgered)[0] ?? "", fault);
  });
}
