import assert from "node:assert/strict";
import { test } from "node:test";
import { randomId } from "../../src/lib/ids.ts";
import { addresseeOf, decodeNotice, encodeNotice, NOTICE_MAX } from "../../src/queue/rules.ts";

const aSubscription = () => ({ organizationId: randomId(), subscriptionId: randomId() });

test("a notice names as many subscriptions as PostgreSQL takes in one payload", () => {
  const due = Array.from({ length: NOTICE_MAX }, aSubscription);
  const notice = encodeNotice(due, randomId());
  assert.deepEqual(decodeNotice(notice), due);
  assert.ok(notice.length < 8_000);
  assert.ok(encodeNotice([...due, aSubscription()]).length >= 8_000);
});

test("only the well-formed parts of a notice are read, because its origin is unknown", () => {
  const due = [aSubscription()];
  for (const junk of ["", "x", "☃".repeat(44), " ".repeat(44), "'; select 1".repeat(4)]) {
    const notice = encodeNotice(due) + junk;
    assert.deepEqual([decodeNotice(notice), addresseeOf(notice)], [due, null], junk);
  }
});

test("a notice is for one process, or for all", () => {
  const [due, addressee] = [[aSubscription(), aSubscription()], randomId()];
  assert.equal(addresseeOf(encodeNotice(due, addressee)), addressee);
  assert.equal(addresseeOf(encodeNotice(due)), null);
});
