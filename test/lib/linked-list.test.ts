import assert from "node:assert/strict";
import { test } from "node:test";
import { LinkedList } from "../../src/lib/linked-list.ts";

function listOf(...items: string[]) {
  const list = new LinkedList<string>();
  return { list, links: items.map((item) => list.append(item)) };
}

test("items keep their order when others are removed", () => {
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

test("removing twice changes nothing", () => {
  const { list, links } = listOf("a", "b");
  for (const link of [...links, ...links]) list.remove(link);
  assert.deepEqual([...list], []);
  assert.equal(list.size, 0);
  list.append("c");
  assert.deepEqual([...list], ["c"]);
});

test("removing the current item does not skip others", () => {
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

test("a removed link does not refer to later items", () => {
  const { list, links } = listOf("a", "b", "c");
  for (const link of links) list.remove(link);
  for (const { before, after } of links) assert.deepEqual([before, after], [null, null]);
});
