import assert from "node:assert/strict";
import { test } from "node:test";
import { after, SKEW_MAX_MS } from "../../../src/lib/clock.ts";
import { attemptId } from "../../../src/lib/ids.ts";
import { recordAttempts } from "../../../src/subjects/deliveries/attempts.ts";
import type { Attempt, Claim } from "../../../src/subjects/deliveries/rules.ts";
import { listAttempts } from "../../../src/subjects/deliveries/sql.ts";
import { deleteSubscription } from "../../../src/subjects/subscriptions/work.ts";
import { createClock } from "../../support/clock.ts";
import { column, columns } from "../../support/columns.ts";
import { createDatabase } from "../../support/database.ts";
import {
  acknowledged,
  anOrganization,
  aSubscription,
  claimAll,
  createEngine,
  publish,
  refused,
} from "../../support/engine.ts";

const db = await createDatabase();

/** An engine that disables after one failure, with one claimed delivery. */
async function anEngine() {
  const { deps, clock } = await createEngine(db);
  deps.rules = { ...deps.rules, autoDisableAfter: 1 };
  const organization = await anOrganization(deps);
  await aSubscription(deps, organization);
  const another = async () => {
    await publish(deps, organization);
    const [claim] = await claimAll(deps);
    assert.ok(claim);
    return claim;
  };
  return { deps, clock, first: await another(), another };
}

function failedAt(claim: Claim, at: Date): Attempt {
  return {
    id: attemptId(claim.id, claim.attempts + 1, at),
    claim,
    outcome: refused,
    startedAt: at,
    endedAt: at,
  };
}

function deliveredAt(claim: Claim, at: Date): Attempt {
  return {
    id: attemptId(claim.id, claim.attempts + 1, at),
    claim,
    outcome: acknowledged,
    startedAt: at,
    endedAt: at,
  };
}

test("an attempt in flight is in the audit, even if it began after the failure that disabled its subscription", async () => {
  const { deps, clock, first, another } = await anEngine();
  const failure = failedAt(first, clock());
  clock.advance(25_000);
  const inFlight = await another();

  const { disabled } = await recordAttempts(deps, [failure]);
  assert.equal(disabled.length, 1);
  clock.advance(20_000);
  await recordAttempts(deps, [failedAt(inFlight, clock())]);
  const attempts = await listAttempts(db, inFlight.id);
  assert.deepEqual(columns(attempts, "attempt", "reason", "nextAttemptAt"), [
    [1, "http_503", null],
  ]);
});

test("an attempt is in the audit, even if its clock was far ahead of the deleting process's", async () => {
  const { deps, clock, first: inFlight } = await anEngine();
  const behind = createClock(after(clock(), -2 * SKEW_MAX_MS));
  await deleteSubscription({ ...deps, clock: behind }, null, inFlight.subscriptionId);
  clock.advance(deps.rules.leaseMs);
  await recordAttempts(deps, [deliveredAt(inFlight, clock())]);
  const attempts = await listAttempts(db, inFlight.id);
  assert.deepEqual(columns(attempts, "attempt", "httpStatus"), [[1, 200]]);
});

test("an attempt that outlived its lease is in the audit unless another process claimed its delivery", async () => {
  const { deps, clock, first, another } = await anEngine();
  const slow = await another();
  clock.advance(30_000);
  await recordAttempts(deps, [failedAt(first, clock())]);
  await recordAttempts(deps, [failedAt(slow, clock())]);
  const attempts = await listAttempts(db, slow.id);
  assert.deepEqual(columns(attempts, "attempt", "reason", "nextAttemptAt"), [
    [1, "http_503", null],
  ]);
});

test("an attempt whose delivery another process has claimed is not in the audit", async () => {
  const { deps, clock, first, another } = await anEngine();
  const slow = await another();
  clock.advance(30_000);
  assert.equal((await claimAll(deps)).length, 2);
  await deleteSubscription(deps, null, first.subscriptionId);
  await recordAttempts(deps, [failedAt(slow, clock())]);
  assert.equal((await listAttempts(db, slow.id)).length, 0);
});

test("a delivery accepted as its subscription ends is recorded as delivered, and the counter stays", async () => {
  const { deps, clock, first: alone, another } = await anEngine();
  const [beside, failed] = [await another(), await another()];
  await db`
    update subscriptions set auto_disabled_at = ${clock()}, consecutive_failures = 20
     where id = ${alone.subscriptionId}`;

  await recordAttempts(deps, [deliveredAt(alone, clock())]);
  await recordAttempts(deps, [deliveredAt(beside, clock()), failedAt(failed, clock())]);
  const states = await db<{ state: string }[]>`
    select state from finished where subscription_id = ${alone.subscriptionId} order by id`;
  assert.deepEqual(column(states, "state"), ["delivered", "delivered", "cancelled"]);
  const [row] = await db<{ consecutive_failures: number }[]>`
    select consecutive_failures from subscriptions where id = ${alone.subscriptionId}`;
  assert.equal(row?.consecutive_failures, 20);
});

test("a success that is recorded again, because the answer of the database was lost, is returned as recorded", async () => {
  const { deps, clock, first } = await anEngine();
  const attempt = deliveredAt(first, clock());
  await recordAttempts(deps, [attempt]);
  const { recorded } = await recordAttempts(deps, [attempt]);
  assert.deepEqual(recorded, [{ attempt, state: "delivered" }]);
  assert.equal((await listAttempts(db, first.id)).length, 1);
});

test("recording returns only dead letters and disabled subscriptions", async () => {
  const { deps, clock, first, another } = await anEngine();
  deps.rules = { ...deps.rules, retryDelaysMs: [] };
  const failed = await another();
  const ended = [deliveredAt(first, clock()), failedAt(failed, clock())];
  const { deadLettered, disabled } = await recordAttempts(deps, ended);
  assert.deepEqual(
    deadLettered.map(({ claim }) => claim.id),
    [failed.id],
  );
  assert.deepEqual(disabled, [failed.subscriptionId]);
});
