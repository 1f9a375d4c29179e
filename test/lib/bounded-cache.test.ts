import assert from "node:assert/strict";
import { test } from "node:test";
import { BoundedCache } from "../../src/lib/bounded-cache.ts";

test("a new entry takes the place of the oldest one", () => {
  const cache = new BoundedCache<string, number>(2);
  cache.set("a", 1);
  cache.set("b", 2);
  cache.set("c", 3);
  assert.deepEqual(
    ["a", "b", "c"].map((key) => cache.get(key)),
    [undefined, 2, 3],
  );
});

test("replacing an entry removes no other", () => {
  const cache = new BoundedCache<string, number>(2);
  cache.set("a", 1);
  cache.set("b", 2);
  cache.set("b", 3);
  assert.deepEqual(
    ["a", "b"].map((key) => cache.get(key)),
    [1, 3],
  );
});
