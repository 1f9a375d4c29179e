import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { DueSubscription } from "../../src/domain/due-notice.ts";
import { NO_SLOTS } from "../../src/actions/publication.ts";
import { randomId } from "../../src/domain/ids.ts";
import { startNudging } from "../../src/wiring/nudging.ts";
import { Arrivals } from "../support/arrivals.ts";
import { createDatabase } from "../support/database.ts";
import { aSubscription, createEngine } from "../support/engine.ts";

const db = await createDatabase();

const dueNow = () => ({ subscriptionId: randomId(), organizationId: randomId() });

/** A process with a dispatcher, and the subscriptions of its nudges. */
async function aDispatcher(t: TestContext, { isFull = false } = {}) {
  const nudged = new Arrivals<DueSubscription>();
  const nudge = (due: DueSubscription[]) => due.forEach((one) => nudged.add(one));
  const nudging = startNudging(db, {
    nudge,
    hear: nudge,
    reserve: () => NO_SLOTS,
    isFull,
    isHearing: true,
  });
  t.after(() => nudging.stop());
  await nudging.listening;
  return { ...nudging, nudged };
}

/** A process that publishes and has no dispatcher. */
async function aPublisher(t: TestContext) {
  const nudging = startNudging(db, null);
  t.after(() => nudging.stop());
  const { deps } = await createEngine(db, { nudge: nudging.nudge, reserve: nudging.reserve });
  const { id, organizationId } = await aSubscription(deps);
  return { deps, nudging, due: { subscriptionId: id, organizationId } };
}

test("a process without a dispatcher nudges the dispatchers of others", async (t) => {
  const { nudged } = await aDispatcher(t);
  const { deps, due } = await aPublisher(t);
  const { organizationId } = due;
  await deps.batched.publish({ organizationId, type: "vc.test.ping", data: "{}" });
  assert.deepEqual(await nudged.until(([first]) => first), due);
});

test("a process notifies others only if its own dispatcher has no slot", async (t) => {
  const busy = await aDispatcher(t, { isFull: true });
  const free = await aDispatcher(t);
  const other = await aDispatcher(t);
  const [kept, told] = [dueNow(), dueNow()];
  free.nudge([kept]);
  await free.stop();
  busy.nudge([told]);
  await other.nudged.until(([first]) => first);
  assert.deepEqual(other.nudged.all, [told]);
});
