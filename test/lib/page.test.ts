import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeCursor, encodeCursor } from "../../src/lib/page.ts";

const ANY = /^.*$/su;
const position = "019b76da-a800-7000-b0c2-7685c0811a68";
const cursor = encodeCursor("failures", position);

test("a cursor returns its position, but only for its own list", () => {
  assert.equal(decodeCursor("failures", ANY, cursor), position);
  assert.equal(decodeCursor("deliveries", ANY, cursor), null);
  assert.equal(decodeCursor("failures", /^[0-9]+$/, cursor), null);
});

test("a cursor with a letter changed, added or removed is refused", () => {
  for (let i = 0; i < cursor.length; i++) {
    const other = cursor[i] === "A" ? "B" : "A";
    assert.equal(
      decodeCursor("failures", ANY, cursor.slice(0, i) + other + cursor.slice(i + 1)),
      null,
    );
    assert.equal(decodeCursor("failures", ANY, cursor.slice(0, i) + cursor.slice(i + 1)), null);
  }
  for (const more of ["A", "=", " ", "\\n", "%"]) {
    assert.equal(decodeCursor("failures", ANY, cursor + more), null);
  }
});

test("a position can be any text", () => {
  for (const text of ["", "ä", "a:b", "1767225600000.x"]) {
    assert.equal(decodeCursor("list", ANY, encodeCursor("list", text)), text);
  }
});
