import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { spellingsOf } from "./spellings.ts";

test("a secret is found in every encoding and any surroundings", () => {
  for (let round = 0; round < 50; round++) {
    const secret = randomBytes(32 + (round % 3));
    const spellings = spellingsOf(secret);
    const isIn = (text: Buffer) => spellings.some((spelling) => text.includes(spelling));
    assert.ok(!isIn(randomBytes(1_000)));

    for (let before = 0; before < 5; before++) {
      const whole = Buffer.concat([randomBytes(before), secret, randomBytes(7)]);
      assert.ok(isIn(whole), "plain");
      assert.ok(isIn(Buffer.from(whole.toString("hex"))), "hex");
      assert.ok(isIn(Buffer.from(whole.toString("hex").toUpperCase())), "HEX");
      assert.ok(isIn(Buffer.from(whole.toString("base64"))), "base64");
      assert.ok(isIn(Buffer.from(whole.toString("base64url"))), "base64url");
    }
  }
});
