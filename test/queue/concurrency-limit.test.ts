import assert from "node:assert/strict";
import { test } from "node:test";
import {
  afterAnswer,
  afterSilence,
  type ConcurrencyLimit,
  INITIAL_LIMIT,
  responsivenessOf,
  signalOf,
} from "../../src/queue/rules.ts";

const MAX = 128;

/** One answer time in which the limit is fully used. */
function round(limit: ConcurrencyLimit): ConcurrencyLimit {
  const inFlight = Math.floor(limit.attempts);
  let next = limit;
  for (let n = 0; n < inFlight; n++) next = afterAnswer(next, { inFlight, max: MAX });
  return next;
}

/** All attempts time out at `nowMs`. They began 10 s before. */
function timeouts(limit: ConcurrencyLimit, nowMs: number): ConcurrencyLimit {
  let next = limit;
  for (let n = Math.floor(limit.attempts); n > 0; n--) {
    next = afterSilence(next, { beganMs: nowMs - 10_000, nowMs });
  }
  return next;
}

test("slow start doubles the limit with each answer time, up to the ceiling", () => {
  let limit = INITIAL_LIMIT;
  const seen = [1, 2, 3, 4, 5, 6].map(() => (limit = round(limit)).attempts);
  assert.deepEqual(seen, [32, 64, 128, 128, 128, 128]);
});

test("after the first timeout the limit grows by about one with each answer time", () => {
  const halved = afterSilence({ ...INITIAL_LIMIT, attempts: 64 }, { beganMs: 0, nowMs: 1 });
  assert.equal(halved.attempts, 32);
  const grown = round(halved).attempts;
  assert.ok(grown > 32.9 && grown <= 33, `${grown}`);
});

test("a limit that is not used does not grow", () => {
  const limit = afterAnswer(INITIAL_LIMIT, { inFlight: 1, max: MAX });
  assert.equal(limit.attempts, 16);
  assert.equal(afterAnswer(limit, { inFlight: 1, max: MAX }), limit);
});

test("one timeout reduces the limit of a receiver that answers nothing to one attempt", () => {
  assert.equal(timeouts({ ...INITIAL_LIMIT, attempts: 128 }, 10_000).attempts, 1);
});

test("timeouts of attempts before the last halving count once if other attempts were answered", () => {
  const halved = afterSilence({ ...INITIAL_LIMIT, attempts: 100 }, { beganMs: 0, nowMs: 10_000 });
  const answered = afterAnswer(halved, { inFlight: 1, max: MAX });
  assert.equal(afterSilence(answered, { beganMs: 5, nowMs: 10_001 }), answered);
  assert.equal(afterSilence(answered, { beganMs: 10_000, nowMs: 20_000 }).attempts, 25);
});

test("a receiver that recovers after an hour of timeouts is at full speed after seven answers in a row", () => {
  let limit = INITIAL_LIMIT;
  for (let ms = 10_000; ms <= 3_600_000; ms += 10_000) limit = timeouts(limit, ms);
  assert.equal(limit.attempts, 1);
  for (let rounds = 0; rounds < 7; rounds++) limit = round(limit);
  assert.equal(limit.attempts, MAX);
});

test("a receiver is silent from an attempt without an answer to the next answer", () => {
  const silent = afterSilence(INITIAL_LIMIT, { beganMs: 0, nowMs: 10_000 });
  const answered = afterAnswer(silent, { inFlight: 1, max: MAX });
  assert.deepEqual([INITIAL_LIMIT, silent, answered].map(responsivenessOf), [
    "unknown",
    "silent",
    "responsive",
  ]);
});

test("only an exchange that says something about the receiver changes the limit", () => {
  assert.equal(signalOf({ kind: "acknowledged", httpStatus: 200 }), "answered");
  assert.equal(signalOf({ kind: "refused", httpStatus: 500 }), "answered");
  assert.equal(signalOf({ kind: "unreachable", reason: "timeout" }), "unanswered");
  assert.equal(signalOf({ kind: "unreachable", reason: "connection_refused" }), "unanswered");
  assert.equal(signalOf({ kind: "unreachable", reason: "connection_reset" }), "unanswered");
  assert.equal(signalOf({ kind: "unreachable", reason: "protocol_error" }), "none");
  assert.equal(signalOf({ kind: "internal-fault", fault: "no_resolver" }), "none");
  assert.equal(signalOf({ kind: "deferred" }), "none");
});
