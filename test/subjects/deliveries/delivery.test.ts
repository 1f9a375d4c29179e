import assert from "node:assert/strict";
import { test } from "node:test";
import { after } from "../../../src/lib/clock.ts";
import { afterAttempt, auditOf, RETRY_DELAYS_MS } from "../../../src/subjects/deliveries/rules.ts";

const ended = new Date("2026-01-01T00:00:00Z");
const refused = { kind: "refused", httpStatus: 503 } as const;

test("a delivery that is never acknowledged is retried on schedule and then dead-lettered", () => {
  const waits: number[] = [];
  let attempts = 1;
  let next = afterAttempt(RETRY_DELAYS_MS, attempts, refused, ended);
  while (next.state === "waiting") {
    waits.push((next.dueAt.getTime() - ended.getTime()) / 60_000);
    next = afterAttempt(RETRY_DELAYS_MS, ++attempts, refused, ended);
  }
  assert.deepEqual(waits, [1, 5, 30, 120, 360, 1440]); // minutes, as in the specification
  assert.deepEqual(next, { state: "dead_lettered", dueAt: null });
  assert.equal(attempts, 7);
});

test("an acknowledgement at the last attempt still counts", () => {
  const outcome = { kind: "acknowledged", httpStatus: 204 } as const;
  const next = afterAttempt(RETRY_DELAYS_MS, 7, outcome, ended);
  assert.deepEqual(next, { state: "delivered", dueAt: null });
});

test("a shorter schedule allows fewer attempts", () => {
  const first = afterAttempt([250], 1, refused, ended);
  assert.deepEqual(first, { state: "waiting", dueAt: after(ended, 250) });
  assert.equal(afterAttempt([250], 2, refused, ended).state, "dead_lettered");
});

test("the audit shows the receiver's status, or 0 if there was none", () => {
  assert.deepEqual(auditOf(refused), { httpStatus: 503, reason: "http_503", detail: null });
  assert.deepEqual(auditOf({ kind: "unreachable", reason: "timeout" }), {
    httpStatus: 0,
    reason: "timeout",
    detail: null,
  });
  assert.deepEqual(auditOf({ kind: "acknowledged", httpStatus: 200 }), {
    httpStatus: 200,
    reason: null,
    detail: null,
  });
});
