import assert from "node:assert/strict";
import { of, type State } from "./state.ts";

/** Checks rules that hold at any time, using only the tables. */
export function checkInvariants(state: State): void {
  for (const [id, { status, failures, disabledAt }] of Object.entries(state.subscriptions)) {
    assert.ok(failures <= 20, `${id} has more than 20 consecutive failures`);
    assert.equal(failures === 20, disabledAt !== null, `${id} is disabled exactly at 20 failures`);
    if (status === "active") assert.equal(disabledAt, null, `${id} is active and disabled`);
  }

  for (const [id, delivery] of Object.entries(state.deliveries)) {
    const attempts = of(state.attempts, id);
    const failed = attempts.filter((attempt) => attempt.reason !== null);
    const numbers = attempts.map((attempt) => attempt.number);
    assert.ok(delivery.attempts <= 7, `${id} has more than 7 attempts`);
    assert.deepEqual(
      numbers,
      Array.from({ length: delivery.attempts }, (_, index) => index + 1),
      `${id} has one audit record for each attempt that was recorded`,
    );
    assert.equal(delivery.state === "waiting", delivery.due !== null, `${id} waits for a due time`);
    assert.equal(
      delivery.state === "dead_lettered",
      attempts.some((attempt) => attempt.deadLettered),
      `${id} is dead-lettered exactly by an attempt`,
    );
    if (delivery.state === "dead_lettered") assert.equal(failed.length, 7, `${id} failed 7 times`);
    if (delivery.state === "delivered") {
      assert.equal(attempts.length - failed.length, 1, `${id} was acknowledged once`);
    }
    for (const { nextAt, endedAt, number } of attempts) {
      if (nextAt !== null) assert.equal(nextAt - endedAt, delayAfter(number), "exact delays");
    }
  }
}

function delayAfter(attempt: number): number {
  const minutes = [1, 5, 30, 2 * 60, 6 * 60, 24 * 60][attempt - 1];
  assert.ok(minutes !== undefined, "there is no attempt after the 7th");
  return minutes * 60_000;
}
