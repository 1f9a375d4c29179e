import assert from "node:assert/strict";
import { test } from "node:test";
import { Due } from "../../src/delivery/due.ts";

function aDue(found: string[] = []) {
  let looks = 0;
  const listDue = () => {
    looks++;
    return Promise.resolve(found);
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

test("nobody looks for more soon while there is enough in mind for all free hands", async () => {
  const { due, looks } = aDue(["a", "b"]);
  await due.look(2);
  for (let n = 0; n < 100; n++) await due.look(2);
  assert.equal(looks(), 1);
  while (looks() < 2) await due.look(3);
});
