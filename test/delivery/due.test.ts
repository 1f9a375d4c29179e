import assert from "node:assert/strict";
import { test } from "node:test";
import { Due } from "../../src/delivery/due.ts";

function aDue(found: string[] = []) {
  let looks = 0;
  const listDue = () => {
    looks++;
    return Promise.resolve({ due: found, upTo: null });
  };
  return { due: new Due({ listDue, pollIntervalMs: 0 }), looks: () => looks };
}

test("what a claim did not come to keeps its place", () => {
  const { due } = aDue();
  due.add(["a", "b", "c"]);
  due.ask(["a", "b"]);
  due.settle("a", true);
  assert.deepEqual([...due], ["b", "c", "a"]);
});

test("what a claim found nothing more of is forgotten", () => {
  const { due } = aDue();
  due.add(["a", "b"]);
  due.ask(["a"]);
  due.settle("a", false);
  assert.deepEqual([...due], ["b"]);
});

test("what is added while it is claimed from stays in mind: the claim may not have seen it", () => {
  const { due } = aDue();
  due.add(["a", "b"]);
  due.ask(["a"]);
  due.add(["a"]);
  due.settle("a", false);
  assert.deepEqual([...due], ["b", "a"]);
});

test("that holds as well where no more than that can be kept in mind", () => {
  const { due } = aDue();
  const ids = Array.from({ length: 10_000 }, (_, i) => `s${i}`);
  due.add(ids);
  due.ask(["s0"]);
  due.add(["s0", "one too many"]);
  due.settle("s0", false);
  assert.ok(due.has("s0"));
  assert.equal(due.size, 10_000);
});

test("while there is enough in mind for all free hands a look a second suffices", async (t) => {
  let now = 0;
  t.mock.method(performance, "now", () => now);
  const { due, looks } = aDue(["a", "b"]);
  const looksAt = async (ms: number, freeHands: number) => {
    now = ms;
    await due.look(freeHands);
    return looks();
  };

  assert.equal(await looksAt(0, 2), 1);
  assert.equal(await looksAt(999, 2), 1);
  assert.equal(await looksAt(1_000, 2), 2);
  assert.equal(await looksAt(1_001, 3), 3, "there are hands for more");
});
