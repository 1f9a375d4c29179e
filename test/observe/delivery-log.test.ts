import assert from "node:assert/strict";
import { test } from "node:test";
import { createDeliveryLog } from "../../src/observe/delivery-log.ts";
import { createLogger } from "../../src/observe/log.ts";
import type { Attempt, Outcome } from "../../src/subjects/deliveries/rules.ts";

const id = (digit: string) => `0000000${digit}-0000-7000-8000-000000000000`;
const at = new Date("2026-01-01T00:00:00Z");
const NAMES = {
  event_id: `evt_${id("1")}`,
  delivery_id: `dlv_${id("2")}`,
  subscription_id: `wh_${id("3")}`,
  organization_id: `org_${id("4")}`,
};

function ended(
  outcome: Exclude<Outcome, { kind: "internal-fault" | "deferred" }>,
  attemptId = id("6"),
): Attempt {
  return {
    id: attemptId,
    claim: {
      id: id("2"),
      leaseId: id("5"),
      leasedUntil: at,
      eventId: id("1"),
      type: "vc.test.ping",
      subscriptionNumber: 1,
      subscriptionId: id("3"),
      organizationId: id("4"),
      url: "https://hooks.example.com/in?key=hunter2",
      attempts: 6,
      lostLeases: 0,
      traceparent: null,
      signingSecret: "whsec_hunter2",
      body: Buffer.from("hunter2"),
    },
    outcome,
    startedAt: at,
    endedAt: new Date(at.getTime() + 41),
  };
}

function aLog(level: string) {
  const lines: Record<string, unknown>[] = [];
  const logger = createLogger(level, {
    write: (line) => {
      assert.ok(!line.includes("hunter2"), line);
      const { time, ...rest } = JSON.parse(line) as Record<string, unknown>;
      assert.ok(time);
      lines.push(rest);
    },
  });
  return { log: createDeliveryLog(logger), lines };
}

const refused = ended({ kind: "refused", httpStatus: 503 });
const delivered = ended({ kind: "acknowledged", httpStatus: 204 }, id("7"));
const asDelivered = [{ attempt: delivered, state: "delivered" } as const];
const asWaiting = [{ attempt: refused, state: "waiting" } as const];
const nothing = { recorded: [], deadLettered: [], disabled: [] };

test("a failed attempt is one line with the ids of event, delivery, subscription and organization", () => {
  const { log, lines } = aLog("info");
  log.ended(refused);
  log.ended(delivered);
  log.recorded([refused, delivered], { ...nothing, recorded: [...asWaiting, ...asDelivered] });
  const facts = { event_type: "vc.test.ping", host: "hooks.example.com", attempt: 7, ms: 41 };
  const outcome = { http_status: 503, reason: "http_503" };
  assert.deepEqual(lines, [{ level: 30, ...NAMES, ...facts, ...outcome, msg: "attempt" }]);
});

test("at debug each success and each recorded outcome has a line, too", () => {
  const { log, lines } = aLog("debug");
  log.ended(delivered);
  log.recorded([delivered], { ...nothing, recorded: asDelivered });
  assert.deepEqual(
    lines.map(({ level, msg, event_id, reason }) => [level, msg, event_id, reason]),
    [
      [20, "attempt", NAMES.event_id, null],
      [20, "outcome recorded", NAMES.event_id, undefined],
    ],
  );
});

test("auto-disabling names organization and URL, without the query that may hold a secret", () => {
  const { log, lines } = aLog("warn");
  const disabled = [refused.claim.subscriptionId];
  log.recorded([refused], { ...nothing, recorded: asWaiting, disabled });
  const { subscription_id, organization_id } = NAMES;
  const url = "https://hooks.example.com/in";
  assert.deepEqual(lines, [
    { level: 40, subscription_id, organization_id, url, msg: "subscription auto-disabled" },
  ]);
});

test("an outcome that is not in the audit has a line that tells attempt and lease", () => {
  const { log, lines } = aLog("warn");
  log.recorded([delivered], nothing);
  log.abandoned(delivered);
  const facts = { attempt: 7, attempted_at: at.toISOString(), ms: 41 };
  const line = { level: 40, ...NAMES, ...facts, leased_until: at.toISOString() };
  assert.deepEqual(lines, [
    { ...line, msg: "outcome ignored: lease lost" },
    { ...line, msg: "outcome abandoned: not recorded in time" },
  ]);
});
