import assert from "node:assert/strict";
import { test } from "node:test";
import { Due } from "../../src/queue/due.ts";
import { type SlotHolder, Slots } from "../../src/queue/slots.ts";

const TIMEOUT_MS = 10_000;
const STEP_MS = 50;
const SLOTS = 512;
const SLOW: SlotHolder = {
  subscriptionId: "slow",
  organizationId: "slow",
  url: "https://slow.test/",
};

interface Course {
  answersAfterMs: number;
  perSecond: number;
  /** Until then each attempt times out. */
  hangsUntilMs?: number;
  untilMs: number;
}

/**
 * Offers events to one receiver on a virtual clock. Returns when each attempt began, and how long its
 * delivery was due.
 */
function* attemptsAt({ answersAfterMs, perSecond, hangsUntilMs = 0, untilMs }: Course) {
  const slots = new Slots(SLOTS, SLOTS / 2);
  const due = new Due({ listDue: () => assert.fail("no scan"), pollIntervalMs: 0 });
  const inFlight: { beganMs: number; endsMs: number; answers: boolean }[] = [];
  let begun = 0;

  for (let nowMs = 0; nowMs <= untilMs; nowMs += STEP_MS) {
    while ((inFlight[0]?.endsMs ?? Infinity) <= nowMs) {
      const { beganMs, answers } = inFlight.shift() ?? assert.fail();
      slots.note(SLOW, answers ? "answered" : "unanswered", beganMs, nowMs);
      slots.give(SLOW);
    }
    for (;;) {
      const waiting = Math.floor((nowMs * perSecond) / 1_000) - begun;
      if (waiting > 0) due.add([SLOW]);
      const { quotas, limit } = slots.allot(due);
      const taken = Math.min(quotas[0]?.quota ?? 0, limit, waiting);
      if (taken <= 0) break;
      for (let n = 0; n < taken; n++) {
        const answers = nowMs >= hangsUntilMs;
        slots.take(SLOW);
        const endsMs = nowMs + (answers ? answersAfterMs : TIMEOUT_MS);
        inFlight.push({ beganMs: nowMs, endsMs, answers });
        yield { nowMs, lagMs: nowMs - (++begun * 1_000) / perSecond, inFlight: inFlight.length };
      }
      due.keepOrDrop("slow", true);
    }
  }
}

for (const [answersAfterMs, perSecond] of [
  [9_000, 4.8],
  [1_000, 100],
] as const) {
  test(`a receiver with ${answersAfterMs} ms for each answer keeps up with ${perSecond} events a second`, () => {
    const attempts = [...attemptsAt({ answersAfterMs, perSecond, untilMs: 180_000 })];
    const late = attempts.filter(({ nowMs }) => nowMs > 60_000);
    assert.ok(late.length >= 100 * Math.floor(perSecond));
    const lagMs = Math.max(...late.map((attempt) => attempt.lagMs));
    assert.ok(lagMs < 1_000, `${lagMs} ms`);
  });
}

test("a receiver that recovers after an hour of timeouts is at full speed within a minute", () => {
  const hangsUntilMs = 3_600_000;
  const course = { answersAfterMs: 1_000, perSecond: 100, hangsUntilMs };
  const attempts = [...attemptsAt({ ...course, untilMs: hangsUntilMs + 60_000 })];
  const hung = attempts.filter(({ nowMs }) => nowMs > 60_000 && nowMs < hangsUntilMs);
  assert.ok(
    hung.every(({ inFlight }) => inFlight === 1),
    "one attempt at a time",
  );
  assert.ok(
    attempts.some(({ inFlight }) => inFlight >= 200),
    "twice what its events need",
  );
});
