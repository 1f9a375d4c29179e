import assert from "node:assert/strict";
import { test } from "node:test";
import type { Database } from "../../../src/postgres/database.ts";
import { recordKeysUsed } from "../../../src/subjects/keys/admission.ts";

test("unwritten uses of keys are kept, unless newer ones exist", async () => {
  const [before, since] = [new Date(1), new Date(2)];
  const keysUsed = new Map([
    ["b", before],
    ["a", before],
  ]);
  const away = new Error("the database is away");
  const db = (() => {
    keysUsed.set("a", since);
    return Promise.reject(away);
  }) as unknown as Database;
  await assert.rejects(recordKeysUsed({ db, keysUsed }), away);
  assert.deepEqual([...keysUsed].sort(), [
    ["a", since],
    ["b", before],
  ]);
});

test("uses of keys are written in one order, so that processes cannot deadlock", async () => {
  const at = new Date();
  const keysUsed = new Map(["c", "a", "b"].map((keyId) => [keyId, at]));
  let written: unknown;
  const db = ((_text: unknown, keyIds: unknown) => {
    written = keyIds;
    return Promise.resolve();
  }) as unknown as Database;
  await recordKeysUsed({ db, keysUsed });
  assert.deepEqual(written, ["a", "b", "c"]);
});
