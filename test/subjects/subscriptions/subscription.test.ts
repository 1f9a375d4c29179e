import assert from "node:assert/strict";
import { test } from "node:test";
import { type Attempt, RETRY_DELAYS_MS } from "../../../src/subjects/deliveries/rules.ts";
import { applyOutcomes } from "../../../src/subjects/subscriptions/rules.ts";

const rules = { retryDelaysMs: RETRY_DELAYS_MS, autoDisableAfter: 20 };
const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second));

function attempt(number: number, outcome: Attempt["outcome"], second: number): Attempt {
  const claim = { attempts: number - 1 } as Attempt["claim"];
  return { id: "", claim, outcome, startedAt: at(second), endedAt: at(second) };
}

function failure(second = 0, number = 1): Attempt {
  return attempt(number, { kind: "refused", httpStatus: 500 }, second);
}

function success(second = 0): Attempt {
  return attempt(1, { kind: "acknowledged", httpStatus: 200 }, second);
}

function active(consecutiveFailures: number) {
  return { consecutiveFailures, active: true };
}

function nextOf({ moves }: ReturnType<typeof applyOutcomes>) {
  return moves.map(({ next }) => next);
}

test("the 20th failure in a row disables, and the 19th does not", () => {
  const nineteenth = applyOutcomes(rules, active(18), [failure(1)]);
  assert.deepEqual(nineteenth.health, { consecutiveFailures: 19, active: true });
  assert.equal(nineteenth.disabledAt, null);

  const twentieth = applyOutcomes(rules, active(19), [failure(2)]);
  assert.deepEqual(twentieth.health, { consecutiveFailures: 20, active: false });
  assert.deepEqual(twentieth.disabledAt, at(2));
  assert.deepEqual(nextOf(twentieth), [{ state: "cancelled", dueAt: null }]);
});

test("the 20th of thirty failures at once disables, and the counter stays at 20", () => {
  const failures = Array.from({ length: 30 }, (_, i) => failure(i));
  const applied = applyOutcomes(rules, active(0), failures);
  const { health, disabledAt } = applied;
  const next = nextOf(applied);
  assert.deepEqual(health, { consecutiveFailures: 20, active: false });
  assert.deepEqual(disabledAt, at(19));
  assert.equal(next.filter((n) => n.state === "waiting").length, 19);
  assert.equal(next.filter((n) => n.state === "cancelled").length, 11);
});

test("an interrupted attempt is retried and not counted, so crashes of the service disable no subscription", () => {
  const interrupted = (number: number): Attempt =>
    attempt(number, { kind: "unreachable", reason: "interrupted" }, 1);
  const after = applyOutcomes(rules, active(19), [interrupted(1), interrupted(7)]);
  assert.deepEqual(after.health, { consecutiveFailures: 19, active: true });
  assert.equal(after.disabledAt, null);
  assert.deepEqual(nextOf(after), [
    { state: "waiting", dueAt: new Date(at(1).getTime() + 60_000) },
    { state: "dead_lettered", dueAt: null },
  ]);
});

test("a success between failures resets the counter, in the order in which attempts ended", () => {
  const mixed = [...Array.from({ length: 15 }, () => failure()), success(), failure(), failure()];
  assert.deepEqual(applyOutcomes(rules, active(4), mixed).health, {
    consecutiveFailures: 2,
    active: true,
  });
});

test("a last attempt that disables the subscription is dead-lettered, not cancelled", () => {
  const next = nextOf(applyOutcomes(rules, active(19), [failure(0, 7)]));
  assert.deepEqual(next, [{ state: "dead_lettered", dueAt: null }]);
});

test("outcomes do not count for an inactive subscription", () => {
  const gone = { consecutiveFailures: 3, active: false };
  const applied = applyOutcomes(rules, gone, [failure(), success()]);
  const { health, disabledAt } = applied;
  assert.deepEqual(health, gone);
  assert.equal(disabledAt, null);
  assert.deepEqual(nextOf(applied), [
    { state: "cancelled", dueAt: null },
    { state: "delivered", dueAt: null },
  ]);
});

test("a success after the disabling failure is delivered, and the subscription stays disabled", () => {
  const after = applyOutcomes(rules, active(19), [failure(), success()]);
  assert.deepEqual(nextOf(after), [
    { state: "cancelled", dueAt: null },
    { state: "delivered", dueAt: null },
  ]);
  assert.deepEqual(after.health, { consecutiveFailures: 20, active: false });
});
