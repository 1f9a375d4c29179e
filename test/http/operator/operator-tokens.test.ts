import assert from "node:assert/strict";
import { test } from "node:test";
import { createTokenCheck } from "../../../src/http/operator/operator-tokens.ts";
import { comparesOf } from "../../support/compares.ts";

const [ann, bob] = [
  { name: "ann", token: "a".repeat(32) },
  { name: "bob", token: "b".repeat(40) },
];

test("a token is compared with every operator's, in constant time, whichever it is and however long", (t) => {
  const nameOf = createTokenCheck([ann, bob]);
  const compared = comparesOf(t);
  for (const [token, name] of [
    [ann.token, "ann"],
    [bob.token, "bob"],
    ["x", null],
    [ann.token.slice(1), null],
  ] as const) {
    compared.length = 0;
    assert.equal(nameOf(`Bearer ${token}`), name);
    assert.deepEqual(compared, [
      [32, 32],
      [32, 32],
    ]);
  }
});

test("no token is nobody's, not even of an operator whose token is empty", () => {
  const nameOf = createTokenCheck([{ name: "nobody", token: "" }]);
  for (const authorization of [undefined, "", "Bearer", "Bearer ", "Basic x"]) {
    assert.equal(nameOf(authorization), null);
  }
});
