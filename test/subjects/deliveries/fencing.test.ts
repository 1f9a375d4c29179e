import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import {
  recordDelivered,
  recordLateFailures,
  recordUndelivered,
} from "../../../src/subjects/deliveries/attempts-sql.ts";
import { postpone } from "../../../src/subjects/deliveries/attempts.ts";
import { lockHeld } from "../../../src/subjects/deliveries/claims-sql.ts";
import type { Attempt, Claim, DeliveryState } from "../../../src/subjects/deliveries/rules.ts";
import { listAttempts } from "../../../src/subjects/deliveries/sql.ts";
import { deleteSubscription } from "../../../src/subjects/subscriptions/work.ts";
import { createDatabase } from "../../support/database.ts";
import { acknowledged, anEngineWith, attemptAll, refused } from "../../support/engine.ts";

const db = await createDatabase();

/** A delivery that one process claimed and whose lease it outslept. Another process has claimed it since. */
async function aDeliverySleptOver() {
  const { deps, clock, claim, organization, id: subscription } = await anEngineWith(db, 1);
  const [slept] = await claim();
  clock.advance(30_000);
  const [awake] = await claim();
  assert.ok(slept && awake);
  return { deps, clock, organization, subscription, slept, awake };
}

async function stateOf({ id }: Claim) {
  const [row] = await db`
    select state, due_at, lease_id, leased_until, lost_leases, attempts
      from (select id, 'waiting' as state, due_at, lease_id, leased_until, lost_leases, attempts from waiting_deliveries
            union all
            select id, state, null, null, null, 0, attempts from finished) deliveries
     where id = ${id}`;
  return row;
}

function ended(claim: Claim, outcome: Attempt["outcome"], now: Date): Attempt {
  return { id: randomUUID(), claim, outcome, startedAt: now, endedAt: new Date(now.getTime() + 1) };
}

function record(claim: Claim, state: DeliveryState, now: Date) {
  if (state === "delivered") return recordDelivered(db, [ended(claim, acknowledged, now)]);
  const next = state === "waiting" ? { state, dueAt: now } : { state, dueAt: null };
  return recordUndelivered(db, [{ attempt: ended(claim, refused, now), next }]);
}

for (const state of ["waiting", "delivered", "dead_lettered", "cancelled"] as const) {
  test(`a process that slept past its lease cannot record a delivery as ${state}`, async () => {
    const { clock, slept, awake } = await aDeliverySleptOver();
    const before = await stateOf(slept);
    assert.equal(await record(slept, state, clock()), 0);
    assert.deepEqual(await stateOf(slept), before);
    assert.equal((await listAttempts(db, slept.id)).length, 0);

    assert.equal(await record(awake, state, clock()), 1);
    assert.equal((await stateOf(awake))?.["state"], state);
  });
}

test("a process that slept past its lease cannot postpone a delivery", async () => {
  const { deps, clock, slept, awake } = await aDeliverySleptOver();
  const before = await stateOf(slept);
  await postpone(deps, [slept]);
  assert.deepEqual(await stateOf(slept), before);

  await postpone(deps, [awake]);
  const due = new Date(clock().getTime() + 60_000);
  assert.deepEqual((await stateOf(awake))?.["due_at"], due);
});

test("only the process with the current lease can lock a delivery", async () => {
  const { slept, awake } = await aDeliverySleptOver();
  assert.equal((await lockHeld(db, [slept])).size, 0);
  assert.equal((await lockHeld(db, [awake])).get(awake.id), awake.leaseId);
});

test("a process that claims a delivery again after a pause records only one of the two attempts", async () => {
  const { deps, slept, awake } = await aDeliverySleptOver();
  await attemptAll(deps, [slept, awake], () => refused);
  assert.equal((await listAttempts(db, awake.id)).length, 1);
  const [row] = await db`
    select consecutive_failures from subscriptions where id = ${awake.subscriptionId}`;
  assert.equal(row?.["consecutive_failures"], 1);
});

test("after a deletion the attempt in flight is recorded, and one past its lease is not", async () => {
  const { deps, clock, organization, subscription, slept, awake } = await aDeliverySleptOver();
  await deleteSubscription(deps, organization, subscription);
  for (const claim of [slept, awake]) {
    const late = ended(claim, refused, clock());
    await recordLateFailures(db, [late], new Date(0));
    assert.equal((await listAttempts(db, claim.id)).length, claim === awake ? 1 : 0);
  }
});
