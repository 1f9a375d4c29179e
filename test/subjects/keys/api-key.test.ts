import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import {
  formatToken,
  hashesMatch,
  hashSecret,
  mintToken,
  NO_HASH,
  parseAuthorization,
} from "../../../src/subjects/keys/rules.ts";

const token = {
  keyId: "0123456789abcdefghij",
  secret: "A_-4567890123456789012345678901234567890123",
};
const text = "vck_0123456789abcdefghij.A_-4567890123456789012345678901234567890123";

test("a new token has both halves in the documented form and parses", () => {
  for (let i = 0; i < 200; i++) {
    const minted = mintToken();
    assert.match(minted.keyId, /^[0-9a-z]{20}$/);
    assert.match(minted.secret, /^[A-Za-z0-9_-]{43}$/);
    assert.equal(Buffer.from(minted.secret, "base64url").length, 32);
    assert.deepEqual(parseAuthorization(`Bearer ${formatToken(minted)}`), minted);
  }
});

test("a new key id begins with the name of the only cell", () => {
  for (let i = 0; i < 20; i++) assert.equal(mintToken().keyId.slice(0, 2), "00");
});

test("a token has the format of the specification", () => {
  assert.equal(formatToken(token), text);
});

test("all characters of a key id after its cell are equally likely", () => {
  const counts = new Map<string, number>();
  for (let i = 0; i < 4_000; i++) {
    for (const letter of mintToken().keyId.slice(2).split(""))
      counts.set(letter, (counts.get(letter) ?? 0) + 1);
  }
  assert.equal(counts.size, 36);
  // Uniform draws exceed 110 once in 10^9 runs. Bytes modulo 36 would prefer four letters and give
  // 175.
  const squares = [...counts.values()].reduce((sum, n) => sum + (n - 2_000) ** 2 / 2_000, 0);
  assert.ok(squares < 110, `chi squared with 35 degrees of freedom is ${squares}`);
});

const accepted = [
  ["with the scheme word", `Bearer ${text}`],
  ["with the scheme word in lower case", `bearer ${text}`],
  ["with the scheme word in upper case", `BEARER ${text}`],
  ["with several spaces after the scheme word", `Bearer   ${text}`],
  ["bare", text],
] as const;

for (const [how, header] of accepted) {
  test(`parses a token ${how}`, () => {
    assert.deepEqual(parseAuthorization(header), token);
  });
}

const refused = [
  ["nothing", undefined],
  ["an empty header", ""],
  ["only the scheme word", "Bearer"],
  ["the scheme word and a space", "Bearer "],
  ["another scheme", `Basic ${text}`],
  ["another scheme with the same beginning", `BearerToken ${text}`],
  ["the scheme word twice", `Bearer Bearer ${text}`],
  ["no space after the scheme word", `Bearer${text}`],
  ["a tab after the scheme word", `Bearer\t${text}`],
  ["two tokens", `${text}, ${text}`],
  ["a token and more", `${text} x`],
  ["a leading space", ` ${text}`],
  ["a trailing newline", `${text}\n`],
  ["another prefix", text.replace("vck_", "vcx_")],
  ["the prefix in upper case", text.replace("vck_", "VCK_")],
  ["no prefix", text.slice(4)],
  ["no dot", text.replace(".", "")],
  ["two dots", text.replace(".", "..")],
  ["a second dot in the secret", `${text.slice(0, -1)}.`],
  ["no key id", `vck_.${token.secret}`],
  ["no secret", `vck_${token.keyId}.`],
  ["half a token without the dot", `vck_${token.keyId}`],
  ["a key id of 19 characters", `vck_${token.keyId.slice(1)}.${token.secret}`],
  ["a key id of 21 characters", `vck_0${token.keyId}.${token.secret}`],
  ["a key id in upper case", `vck_${token.keyId.toUpperCase()}.${token.secret}`],
  ["a secret of 42 characters", text.slice(0, -1)],
  ["a secret of 44 characters", `${text}A`],
  ["a secret in standard base64", text.replace("_-", "/+").replace("vck/", "vck_")],
  ["padding", `${text.slice(0, -1)}=`],
  ["a letter that only looks the same", text.replace("a", "а")],
] as const;

for (const [what, header] of refused) {
  test(`rejects ${what}`, () => {
    assert.equal(parseAuthorization(header), null);
  });
}

test("parsing never throws, and a parsed token has the right form", () => {
  const near = fc.tuple(fc.string(), fc.constantFrom(text, `Bearer ${text}`), fc.string());
  const headers = fc.oneof(
    fc.string({ unit: "binary" }),
    near.map((parts) => parts.join("")),
  );
  fc.assert(
    fc.property(headers, (header) => {
      const read = parseAuthorization(header);
      if (read !== null) assert.deepEqual(read, token);
    }),
  );
});

test("the stored hash is the SHA-256 of the secret", () => {
  const expected = createHash("sha256").update(token.secret).digest("hex");
  assert.equal(hashSecret(token.secret), expected);
});

test("a secret matches only its own hash", () => {
  const hash = hashSecret(token.secret);
  assert.equal(hashesMatch(hashSecret(token.secret), hash), true);
  assert.equal(hashesMatch(hashSecret(mintToken().secret), hash), false);
});

test("two secrets that decode to the same bytes are different secrets", () => {
  // 43 characters hold 258 bits. The last two are unused, so "A" and "B" would decode to the same
  // bytes.
  const minted = `${"x".repeat(42)}A`;
  const twin = `${"x".repeat(42)}B`;
  assert.deepEqual(Buffer.from(minted, "base64url"), Buffer.from(twin, "base64url"));
  assert.equal(hashesMatch(hashSecret(twin), hashSecret(minted)), false);
});

test("no secret matches an unknown key", () => {
  assert.equal(hashesMatch(hashSecret(token.secret), NO_HASH), false);
});
