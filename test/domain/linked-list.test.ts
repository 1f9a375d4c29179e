import assert from "node:assert/strict";
import { test } from "node:test";
import { LinkedList } from "../../src/domain/linked-list.ts";

function listOf(...items: string[]) {
  const list = new LinkedList<string>();
  return { list, links: items.map((item) => list.append(item)) };
}

test("items keep the order in which they came, whichever of them leave", () => {
  for (const [gone, left] of [
    [0, ["b", "c"]],
    [1, ["a", "c"]],
    [2, ["a", "b"]],
  ] as const) {
    const { list, links } = listOf("a", "b", "c");
    const link = links[gone];
    assert.ok(link);
    list.remove(link);
    assert.deepEqual([...list], left);
    list.append("d");
    assert.deepEqual([...list], [...left, "d"]);
    assert.equal(list.size, 3);
  }
});

test("to leave twice changes nothing", () => {
  const { list, links } = listOf("a", "b");
  for (const link of [...links, ...links]) list.remove(link);
  assert.deepEqual([...list], []);
  assert.equal(list.size, 0);
  list.append("c");
  assert.deepEqual([...list], ["c"]);
});

test("the item at hand may leave without the others being missed", () => {
  const { list, links } = listOf("a", "b", "c");
  const seen: string[] = [];
  for (const item of list) {
    seen.push(item);
    const link = links.find((one) => one.item === item);
    assert.ok(link);
    list.remove(link);
  }
  assert.deepEqual(seen, ["a", "b", "c"]);
  assert.equal(list.size, 0);
});

test("what has left leads to nothing that came later", () => {
  const { list, links } = listOf("a", "b", "c");
  for (const link of links) list.remove(link);
  for (const { before, after } of links) assert.deepEqual([before, after], [null, null]);
});
