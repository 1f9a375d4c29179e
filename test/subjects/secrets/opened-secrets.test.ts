import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { type KeyRing, seal } from "../../../src/subjects/secrets/rules.ts";
import { openOnce } from "../../../src/subjects/secrets/work.ts";

const ring: KeyRing = [{ id: "new", key: randomBytes(32) }];
const lost: KeyRing = [{ id: "lost", key: randomBytes(32) }];

test("a secret can be opened repeatedly, and another one for the same subscription replaces it", () => {
  const first = seal(ring, "one", "whsec_first");
  assert.equal(openOnce(ring, "one", first), "whsec_first");
  assert.equal(openOnce(ring, "one", Buffer.from(first)), "whsec_first");
  assert.equal(openOnce(ring, "one", seal(ring, "one", "whsec_second")), "whsec_second");
});

test("a cached secret opens for no other subscription, ring or bytes", () => {
  const sealed = seal(ring, "two", "whsec_two");
  assert.equal(openOnce(ring, "two", sealed), "whsec_two");
  assert.equal(openOnce(ring, "three", sealed), null);
  assert.equal(openOnce(lost, "two", sealed), null);
  const altered = Buffer.from(sealed);
  altered.writeUInt8(altered.readUInt8(altered.length - 1) ^ 1, altered.length - 1);
  assert.equal(openOnce(ring, "two", altered), null);
  assert.equal(openOnce(ring, "two", sealed), "whsec_two");
});
