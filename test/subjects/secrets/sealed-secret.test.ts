import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { keyIdOf, type KeyRing, open, seal } from "../../../src/subjects/secrets/rules.ts";
import { mintSigningSecret } from "../../../src/webhook/sign.ts";

const older = { id: "2025", key: randomBytes(32) };
const newer = { id: "2026", key: randomBytes(32) };
const ring: KeyRing = [newer, older];

const row = "01990000-0000-7000-8000-000000000001";
const otherRow = "01990000-0000-7000-8000-000000000002";
const secret = mintSigningSecret();

test("a sealed secret opens again", () => {
  assert.equal(open(ring, row, seal(ring, row, secret)), secret);
});

test("any text sealed under any key id opens again", () => {
  const ids = fc.string({ minLength: 1, maxLength: 60, unit: "grapheme" });
  fc.assert(
    fc.property(ids, fc.string({ unit: "grapheme" }), (id, text) => {
      const own: KeyRing = [{ id, key: newer.key }];
      const sealed = seal(own, row, text);
      assert.equal(keyIdOf(sealed), id);
      assert.equal(open(own, row, sealed), text);
    }),
    { numRuns: 200 },
  );
});

test("the newest key seals and its id stands in front", () => {
  assert.equal(keyIdOf(seal(ring, row, secret)), "2026");
});

test("an older key of the ring still opens its secrets", () => {
  const sealed = seal([older], row, secret);
  assert.equal(keyIdOf(sealed), "2025");
  assert.equal(open(ring, row, sealed), secret);
});

test("a secret does not open without its key", () => {
  assert.equal(open([newer], row, seal([older], row, secret)), null);
});

test("a different key with the same id does not open a secret", () => {
  const impostor: KeyRing = [{ id: newer.id, key: randomBytes(32) }];
  assert.equal(open(impostor, row, seal(ring, row, secret)), null);
});

test("a sealed secret copied to another row does not open", () => {
  assert.equal(open(ring, otherRow, seal(ring, row, secret)), null);
});

test("a secret with any bit changed does not open", () => {
  const sealed = seal(ring, row, secret);
  for (let bit = 0; bit < sealed.length * 8; bit++) {
    const altered = Buffer.from(sealed);
    altered[bit >> 3] = (altered[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    assert.equal(open(ring, row, altered), null, `bit ${bit}`);
  }
});

test("a secret that is shortened or extended does not open", () => {
  const sealed = seal(ring, row, secret);
  for (let length = 0; length < sealed.length; length++) {
    assert.equal(open(ring, row, sealed.subarray(0, length)), null, `${length} bytes`);
  }
  assert.equal(open(ring, row, Buffer.concat([sealed, Buffer.alloc(1)])), null);
});

test("other bytes have no key id and do not open", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 120 }), (bytes) => {
      assert.equal(open(ring, row, Buffer.from(bytes)), null);
    }),
  );
  assert.equal(keyIdOf(Buffer.from(secret)), null);
  assert.equal(keyIdOf(Buffer.alloc(0)), null);
  assert.equal(keyIdOf(Buffer.from([1])), null);
  assert.equal(keyIdOf(Buffer.from([1, 200, 65])), null);
});

test("sealing a secret twice gives different bytes, and none of it is readable", () => {
  const [one, two] = [seal(ring, row, secret), seal(ring, row, secret)];
  const sealedPart = 2 + newer.id.length;
  assert.notDeepEqual(one.subarray(sealedPart), two.subarray(sealedPart));
  for (let i = 0; i + 4 <= secret.length; i++) {
    assert.equal(one.includes(secret.slice(i, i + 4)), false);
  }
});

test("the format is version, key id, nonce, ciphertext and tag, and stays readable", () => {
  const key = Buffer.from(
    "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
    "hex",
  );
  const sealed = Buffer.from(VECTOR, "hex");
  assert.equal(open([{ id: "k1", key }], row, sealed), "whsec_c2VjcmV0");
});

test("sealing refuses a key id that is too long", () => {
  assert.throws(() => seal([{ id: "x".repeat(256), key: newer.key }], row, secret), RangeError);
});

/** Made by another implementation. The nonce is a0a1…ab, the associated data is the row above. */
const VECTOR =
  "01026b31a0a1a2a3a4a5a6a7a8a9aaab91700f482694618d340fe4be514ad544bd35d949f4664053f0cc219fc597";
