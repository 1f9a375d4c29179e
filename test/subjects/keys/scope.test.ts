import assert from "node:assert/strict";
import { test } from "node:test";
import { PartnerError } from "../../../src/lib/errors.ts";
import { grantScopes, RESERVED_SCOPES } from "../../../src/subjects/keys/rules.ts";

test("every key gets identity:read, requested or not", () => {
  assert.deepEqual(grantScopes([]), ["identity:read"]);
  assert.deepEqual(grantScopes(["webhooks:manage", "identity:read", "webhooks:manage"]), [
    "identity:read",
    "webhooks:manage",
  ]);
});

for (const scope of RESERVED_SCOPES) {
  test(`the reserved scope ${scope} is refused, even together with a real one`, () => {
    assert.throws(() => grantScopes(["webhooks:manage", scope]), {
      code: "reserved_scope",
    });
  });
}

test("every bad scope is reported by its position, without its value", () => {
  try {
    grantScopes(["leads:read", "identity:read", "nonsense"]);
    assert.fail("granted");
  } catch (error) {
    assert.ok(error instanceof PartnerError);
    assert.equal(error.code, "unknown_scope");
    assert.deepEqual(error.faults.map((f) => f.pointer).toSorted(), ["/scopes/0", "/scopes/2"]);
    assert.ok(!JSON.stringify(error.faults).includes("nonsense"));
  }
});
