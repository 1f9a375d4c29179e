import assert from "node:assert/strict";
import { test } from "node:test";
import { encodeEnvelope, TEST_EVENT, TEST_EVENT_DATA } from "../../../src/subjects/events/rules.ts";

test("the bytes of an envelope never change, so that retries repeat them after an upgrade", () => {
  const bytes = encodeEnvelope(
    {
      id: "0190a5b0-0000-7000-8000-000000000001",
      type: TEST_EVENT,
      occurredAt: new Date("2026-01-01T00:00:00.007Z"),
      data: TEST_EVENT_DATA,
    },
    "2f6c1d9e-0000-4000-8000-000000000002",
  );
  assert.equal(
    bytes.toString("utf8"),
    '{"event":"vc.test.ping","id":"evt_0190a5b0-0000-7000-8000-000000000001",' +
      '"subscription_id":"wh_2f6c1d9e-0000-4000-8000-000000000002",' +
      '"occurred_at":"2026-01-01T00:00:00.007Z","data":{"message":"integration test"}}',
  );
});
