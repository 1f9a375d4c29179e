import assert from "node:assert/strict";
import { test } from "node:test";
import { wrap } from "../../src/commands/output.ts";
import { column } from "../support/columns.ts";

test("a long text is broken between words, and colours take no room", () => {
  const words = "word ".repeat(30).trim();
  assert.equal(wrap("short", "  "), "short\n");
  const lines = wrap(words, "  ").trimEnd().split("\n");
  assert.deepEqual(column(lines, "length"), [119, 31]);
  const colour = "\u001b[31m";
  assert.equal(wrap(colour + words, "  ", colour.length), colour + wrap(words, "  "));
});
