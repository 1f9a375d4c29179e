import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import {
  type AttemptId,
  type ChangeId,
  type DeliveryId,
  type EventId,
  firstIdAt,
  type KeyId,
  type LeaseId,
  type NodeId,
  type OrganizationId,
  parseId,
  type ProcessId,
  publicId,
  randomId,
  type RedeliveryId,
  type SubscriptionId,
  timeOrderedId,
} from "../../src/lib/ids.ts";

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

test("the smallest id of a moment has its time alone, and moments before 1970 have that of 1970", () => {
  assert.equal(firstIdAt(new Date(0x0123456789ab)), "01234567-89ab-0000-0000-000000000000");
  assert.equal(firstIdAt(new Date(-1)), "00000000-0000-0000-0000-000000000000");
});

test("a public id is a prefix and a UUID, and nothing else parses", () => {
  const uuid = randomId();
  assert.equal(parseId("wh", publicId("wh", uuid)), uuid);
  for (const wrong of [uuid, `evt_${uuid}`, `wh_${uuid} `, `wh_${uuid.toUpperCase()}`, "wh_", ""]) {
    assert.equal(parseId("wh", wrong), null);
  }
});

interface Ids {
  organization: OrganizationId;
  subscription: SubscriptionId;
  event: EventId;
  delivery: DeliveryId;
  attempt: AttemptId;
  process: ProcessId;
  change: ChangeId;
  redelivery: RedeliveryId;
  lease: LeaseId;
  key: KeyId;
  node: NodeId;
}

test("an id of one kind is not accepted for another kind", () => {
  type MixedUp = {
    [One in keyof Ids]: {
      [Other in Exclude<keyof Ids, One>]: Ids[One] extends Ids[Other] ? [One, Other] : never;
    }[Exclude<keyof Ids, One>];
  }[keyof Ids];
  const none: [MixedUp] extends [never] ? true : false = true; // If two are mixed up, this file does not compile.
  assert.ok(none);
});

const ID = new RegExp(
  `\\b(?:${["organization", "subscription", "event", "delivery", "attempt", "process", "change", "redelivery", "lease", "key", "node"].join("|")})` +
    "(?:_id|Id)s?\\??: (?:readonly )?string\\b",
);
/** The rooms in which ids are bare. What partners and operators are offered has public ones. */
const ROOMS = ["subjects", "queue", "jobs", "observe", "lib", "postgres"];
const OFFERED = /(routes|schema|commands)\.ts$/;
const SOURCE = fileURLToPath(new URL("../../../src", import.meta.url));

test("an id's name comes with its kind as its type", async () => {
  const found: string[] = [];
  for (const room of ROOMS) {
    const entries = await readdir(join(SOURCE, room), { recursive: true });
    for (const path of entries.filter((entry) => entry.endsWith(".ts"))) {
      if (OFFERED.test(path)) continue;
      const text = await readFile(join(SOURCE, room, path), "utf8");
      for (const line of text.split("\n"))
        if (ID.test(line)) found.push(`${room}/${path}: ${line.trim()}`);
    }
  }
  assert.deepEqual(found, []);
});
