import assert from "node:assert/strict";
import { test } from "node:test";
import { countSlots } from "../../src/queue/reported-slots.ts";
import { column } from "../support/columns.ts";

/** Pairs of a name and a number, in no order: 0, 7, 14 and so on, modulo `count`. */
const pairs = (count: number) =>
  Array.from({ length: count }, (_, n): [string, number] => {
    const number = (7 * n) % count;
    return [`id-${number}`, number];
  });

test("a process reports the ten organizations with most slots, and the hundred lowest limits", () => {
  const { attemptsUnderWay, slots, organizations, slowed } = countSlots({
    inFlight: 3,
    concurrency: 512,
    holders: { organizations: pairs(24), subscriptions: [] } as never,
    slowed: pairs(101),
  });
  assert.deepEqual([attemptsUnderWay, slots], [3, 512]);
  assert.deepEqual(column(organizations, "slots"), [23, 22, 21, 20, 19, 18, 17, 16, 15, 14]);
  assert.deepEqual(
    column(slowed, "limit"),
    Array.from({ length: 100 }, (_, n) => n),
  );
});

test("a process without a dispatcher reports no slots", () => {
  assert.deepEqual(countSlots(null), {
    attemptsUnderWay: 0,
    slots: null,
    organizations: [],
    slowed: [],
  });
});
