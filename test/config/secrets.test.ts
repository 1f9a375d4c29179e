import assert from "node:assert/strict";
import { test } from "node:test";
import {
  Environment,
  parseSealingKeys,
  readAdminTokens,
  readSealingKeys,
} from "../../src/config/settings.ts";

const a = "a".repeat(32);
const b = "b".repeat(32);
const key = (byte: number) => Buffer.alloc(32, byte);
const base64 = (byte: number) => key(byte).toString("base64");

test("a single token needs no name, and several need one each", () => {
  const env = new Environment({ ADMIN_TOKEN: a });
  assert.deepEqual(readAdminTokens(env), [{ name: "operator", role: "operate", token: a }]);

  for (const tokens of [`${a},${b}`, `ann:${a},${b}`]) {
    const several = new Environment({ ADMIN_TOKEN: tokens });
    readAdminTokens(several);
    assert.deepEqual(several.faults, ["ADMIN_TOKEN must name every token when there are several"]);
  }
});

test("two operators cannot share a name or a token", () => {
  const [sameName, sameToken] = [`ann:${a},ann:${b}`, `ann:${a},bob:${a}`].map((tokens) => {
    const env = new Environment({ ADMIN_TOKEN: tokens });
    readAdminTokens(env);
    return env.faults;
  });
  assert.deepEqual(sameName, ["ADMIN_TOKEN must not use a name twice"]);
  assert.deepEqual(sameToken, ["ADMIN_TOKEN must not use a token twice"]);
});

test("a token's role must exist, and needs a name", () => {
  for (const tokens of [`ann/admin:${a}`, `/read:${a}`, `ann/:${a}`, `ann/READ:${a}`]) {
    const env = new Environment({ ADMIN_TOKEN: tokens });
    readAdminTokens(env);
    assert.match(env.faults.join(), /where role is one of operate, read, publish/, tokens);
  }
});

test("a key id identifies one sealing key", () => {
  const env = new Environment({ SEALING_KEYS: `a:${base64(1)},a:${base64(2)}` });
  readSealingKeys(env);
  assert.deepEqual(env.faults, ["SEALING_KEYS must not use an id twice"]);
});

test("a key ring file has one key a line, or reads like the variable, and a damaged one is refused", () => {
  for (const between of [",", "\n", "\r\n", "\n\n  "]) {
    assert.deepEqual(parseSealingKeys(`b:${base64(2)}${between}a:${base64(1)}\n`), [
      { id: "b", key: key(2) },
      { id: "a", key: key(1) },
    ]);
  }
  for (const text of ["", "a:", `a:${base64(1)},b`, `a:${base64(1)},a:${base64(1)}`]) {
    assert.equal(parseSealingKeys(text), null);
  }
});
