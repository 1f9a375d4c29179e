import assert from "node:assert/strict";
import { test } from "node:test";
import { table } from "../../src/commands/output.ts";

const lines = [{ cells: ["1", "one"] }, { cells: ["22", "two"], note: "a note" }];

test("columns are aligned, and a note stands below its line", () => {
  assert.equal(
    table(["N", "NAME"], lines, { isTerminal: false }),
    "N   NAME\n1   one\n22  two\n  a note\n",
  );
});

test("headings are bold only on a terminal", () => {
  assert.equal(
    table(["N", "NAME"], lines, { isTerminal: true }).split("\n")[0],
    "\u001b[1mN   NAME\u001b[22m",
  );
});

test("a cell is coloured on a terminal, and columns stay aligned", () => {
  const styled = [{ cells: ["a", "one"], styles: { 0: "red" } as const }, { cells: ["bb", "two"] }];
  assert.equal(
    table(["N", "NAME"], styled, { isTerminal: true }).split("\n")[1],
    "\u001b[31ma\u001b[39m   one",
  );
  assert.equal(table(["N", "NAME"], styled, { isTerminal: false }).split("\n")[1], "a   one");
});

test("control characters in a cell do not reach the terminal", () => {
  const evil = "\u001b]0;owned\u0007\r\n\u009b2J";
  const shown = table(["NAME"], [{ cells: [evil], note: evil }], { isTerminal: true });
  const [, ...body] = shown.split("\n");
  assert.equal(/\p{Cc}/u.test(body.join("")), false);
  assert.equal(body.length, 3);
});
