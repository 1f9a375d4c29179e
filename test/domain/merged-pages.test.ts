import assert from "node:assert/strict";
import { test } from "node:test";
import { encodeCursor, mergePages, type Order, type Page } from "../../src/domain/page.ts";

const at = (position: string) => encodeCursor("letters", position);

function pageOf(letters: string, next: string | null = null): Page<string> {
  const items = Array.from(letters);
  return { items, next_cursor: next && at(next), cursors: () => items.map(at) };
}

function merged(pages: Page<string>[], limit: number, order: Order = "ascending") {
  const { items, next_cursor } = mergePages(pages, { limit, order });
  return [items.join(""), next_cursor];
}

test("pages merge by position, in either order", () => {
  assert.deepEqual(merged([pageOf("ad"), pageOf("bc")], 9), ["abcd", null]);
  assert.deepEqual(merged([pageOf("da"), pageOf("cb")], 9, "descending"), ["dcba", null]);
});

test("a merged page has at most its limit, and continues after its last item", () => {
  assert.deepEqual(merged([pageOf("ace"), pageOf("bd")], 3), ["abc", at("c")]);
  assert.deepEqual(merged([pageOf("ac"), pageOf("b")], 3), ["abc", null]);
});

test("an item that two shards have is shown once", () => {
  assert.deepEqual(merged([pageOf("abd"), pageOf("bc")], 3), ["abc", at("c")]);
  assert.deepEqual(merged([pageOf("ab", "b"), pageOf("b", "b")], 2), ["ab", at("b")]);
});

test("a merged page shows nothing beyond the place to which every shard was read", () => {
  assert.deepEqual(merged([pageOf("ab", "b"), pageOf("cd")], 2), ["ab", at("b")]);
  assert.deepEqual(merged([pageOf("a", "c"), pageOf("bz")], 9), ["ab", at("c")]);
  assert.deepEqual(merged([pageOf("", "c"), pageOf("dz")], 9), ["", at("c")]);
});
