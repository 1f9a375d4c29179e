import assert from "node:assert/strict";
import { test } from "node:test";
import { randomId } from "../../src/lib/ids.ts";
import { addresseeOf, decodeNudge, encodeNudge, NUDGE_MAX } from "../../src/queue/rules.ts";

const aSubscription = () => ({ organizationId: randomId(), subscriptionId: randomId() });

test("a nudge names as many subscriptions as PostgreSQL takes in one payload", () => {
  const due = Array.from({ length: NUDGE_MAX }, aSubscription);
  const nudge = encodeNudge(due, randomId());
  assert.deepEqual(decodeNudge(nudge), due);
  assert.ok(nudge.length < 8_000);
  assert.ok(encodeNudge([...due, aSubscription()]).length >= 8_000);
});

test("only the well-formed parts of a nudge are read, because its origin is unknown", () => {
  const due = [aSubscription()];
  for (const junk of ["", "x", "☃".repeat(44), " ".repeat(44), "'; select 1".repeat(4)]) {
    const nudge = encodeNudge(due) + junk;
    assert.deepEqual([decodeNudge(nudge), addresseeOf(nudge)], [due, null], junk);
  }
});

test("a nudge is for one process, or for all", () => {
  const [due, addressee] = [[aSubscription(), aSubscription()], randomId()];
  assert.equal(addresseeOf(encodeNudge(due, addressee)), addressee);
  assert.equal(addresseeOf(encodeNudge(due)), null);
});
