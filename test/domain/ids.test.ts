import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type OrganizationId,
  parseId,
  publicId,
  randomId,
  type SubscriptionId,
  timeOrderedId,
} from "../../src/domain/ids.ts";

test("ids of one millisecond sort in the order of creation", () => {
  const moment = new Date("2026-01-01T00:00:00.123Z");
  const ids = Array.from({ length: 4000 }, () => timeOrderedId(moment));
  assert.deepEqual(ids.toSorted(), ids);
  assert.equal(new Set(ids).size, ids.length);
});

test("the first 48 bits of an id are its time, as in RFC 9562", () => {
  const id = timeOrderedId(new Date(0x0123456789ab));
  assert.match(id, /^01234567-89ab-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

test("a public id is a prefix and a UUID, and nothing else parses", () => {
  const uuid = randomId();
  assert.equal(parseId("wh", publicId("wh", uuid)), uuid);
  for (const wrong of [uuid, `evt_${uuid}`, `wh_${uuid} `, `wh_${uuid.toUpperCase()}`, "wh_", ""]) {
    assert.equal(parseId("wh", wrong), null);
  }
});

test("an id of one kind is not accepted for another kind", () => {
  type Mixes = OrganizationId extends SubscriptionId ? true : false;
  const mixes: Mixes = false; // With `true` this file does not compile.
  assert.equal(mixes, false);
});
