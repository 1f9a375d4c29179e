import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Due } from "../../src/queue/due.ts";
import { type SlotHolder, Slots } from "../../src/queue/slots.ts";

const TIMEOUT_MS = 10_000;
const STEP_MS = 500;
const LIMIT_MS = 600_000;

interface Hostile {
  subscriptions: number;
  /** The time for which each attempt uses its slot. */
  holdsMs: number;
  answers: boolean;
  arrivesMs: number;
  /** The time at which its receivers stop answering. */
  hangsFromMs: number;
}

const hostile = fc.record<Hostile>({
  subscriptions: fc.integer({ min: 1, max: 40 }),
  holdsMs: fc.integer({ min: 1, max: 20 }).map((steps) => steps * STEP_MS),
  answers: fc.boolean(),
  arrivesMs: fc.integer({ min: 0, max: 60 }).map((steps) => steps * STEP_MS),
  hangsFromMs: fc.integer({ min: 0, max: 100 }).map((steps) => steps * STEP_MS),
});

/**
 * Gives hostile organizations as many slots as they can get, on a virtual clock. An organization with one due
 * delivery arrives at `arrivesMs`. Returns how long it waits for a slot.
 */
function waitOf(total: number, organizations: Hostile[], arrivesMs: number): number {
  const slots = new Slots(total, Math.ceil(total / 2));
  const due = new Due({ listDue: () => assert.fail("no scan"), pollIntervalMs: 0 });
  const inFlight: { attempt: SlotHolder; beganMs: number; endsMs: number; answers: boolean }[] = [];
  const newcomer = { subscriptionId: "new", organizationId: "new", url: "https://new.test/" };

  for (let nowMs = 0; nowMs <= LIMIT_MS; nowMs += STEP_MS) {
    organizations.forEach((one, index) => {
      if (one.arrivesMs !== nowMs) return;
      const ids = Array.from({ length: one.subscriptions }, (_, n) => `${index}-${n}`);
      due.add(ids.map((id) => ({ subscriptionId: id, organizationId: `${index}` })));
    });
    if (nowMs === arrivesMs) due.add([newcomer]);

    for (const ended of inFlight.filter(({ endsMs }) => endsMs <= nowMs)) {
      inFlight.splice(inFlight.indexOf(ended), 1);
      slots.note(ended.attempt, ended.answers ? "answered" : "unanswered", ended.beganMs, nowMs);
      slots.give(ended.attempt);
    }
    for (;;) {
      const { quotas, limit } = slots.allot(due);
      let left = limit;
      let begun = 0;
      due.ask(quotas.map((s) => s.subscriptionId));
      for (const { subscriptionId: id, quota } of quotas) {
        const taken = Math.min(quota, left);
        if (taken === 0) break;
        if (id === newcomer.subscriptionId) return nowMs - arrivesMs;
        const organizationId = id.split("-")[0] ?? "";
        const { hangsFromMs, ...one } = organizations[Number(organizationId)] ?? assert.fail();
        const hangs = nowMs >= hangsFromMs;
        const { holdsMs, answers } = hangs ? { holdsMs: TIMEOUT_MS, answers: false } : one;
        const attempt = { subscriptionId: id, organizationId, url: `https://${id}.test/` };
        for (let n = 0; n < taken; n++) {
          slots.take(attempt);
          inFlight.push({ attempt, beganMs: nowMs, endsMs: nowMs + holdsMs, answers });
        }
        begun += taken;
        left -= taken;
        due.keepOrDrop(id, true);
      }
      if (begun === 0) break;
    }
    assert.ok(slots.free >= 0, "no more attempts than slots");
  }
  return Infinity;
}

test("an organization waits for a slot no longer than the bound, regardless of the others", () => {
  const organizations = fc.array(hostile, { maxLength: 12 });
  const arrives = fc.integer({ min: 0, max: 80 }).map((steps) => steps * STEP_MS);
  const property = fc.property(
    fc.integer({ min: 1, max: 300 }),
    organizations,
    arrives,
    (total, others, at) => {
      const bound = Math.ceil((16 * (others.length + 1)) / total) * TIMEOUT_MS;
      const waitMs = waitOf(total, others, at);
      assert.ok(waitMs <= bound, `${waitMs} ms of ${bound} ms`);
    },
  );
  fc.assert(property, { numRuns: 300 });
});

test("a newcomer does not wait for the timeouts of organizations that use their share", () => {
  const hanging = {
    subscriptions: 64,
    holdsMs: TIMEOUT_MS,
    answers: false,
    arrivesMs: 0,
    hangsFromMs: 0,
  };
  for (const organizations of [
    [hanging],
    [hanging, { ...hanging, arrivesMs: 500 }],
    Array.from({ length: 16 }, () => hanging),
  ]) {
    for (let at = 1_000; at <= 30_000; at += STEP_MS) {
      assert.equal(waitOf(256, organizations, at), 0, `${organizations.length} at ${at} ms`);
    }
  }
});
