import assert from "node:assert/strict";
import { test } from "node:test";
import { bearerTokenOf, createTokenCheck } from "../../../src/http/operator-authentication.ts";
import { comparesOf } from "../../support/compares.ts";

const [ann, bob] = [
  { name: "ann", role: "operate", token: "a".repeat(32) },
  { name: "bob", role: "read", token: "b".repeat(40) },
] as const;

test("a token is compared with every operator token in constant time", (t) => {
  const operatorOf = createTokenCheck([ann, bob]);
  const compared = comparesOf(t);
  for (const [token, operator] of [
    [ann.token, ann],
    [bob.token, bob],
    ["x", null],
    [ann.token.slice(1), null],
  ] as const) {
    compared.length = 0;
    assert.deepEqual(operatorOf(token), operator);
    assert.deepEqual(compared, [
      [32, 32],
      [32, 32],
    ]);
  }
});

test("a header without a token has none, not an empty one", () => {
  for (const authorization of [undefined, "", "Bearer", "Bearer ", "Basic x"]) {
    assert.equal(bearerTokenOf(authorization), null);
  }
});
