import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { cancelWaiting } from "../../../src/subjects/deliveries/cancellation-sql.ts";
import { listDeliveries } from "../../../src/subjects/deliveries/search-sql.ts";
import { findNextDueOf, listAttempts, listFailures } from "../../../src/subjects/deliveries/sql.ts";
import {
  deleteSubscription as deleteRow,
  findSubscriptions,
} from "../../../src/subjects/subscriptions/sql.ts";
import { createDatabase } from "../../support/database.ts";
import {
  acknowledged,
  anEngineWith,
  attemptAll,
  claimAll,
  publish,
  refused,
} from "../../support/engine.ts";
import { untilBlocked } from "../../support/until-blocked.ts";

const db = await createDatabase();
const ALL = { after: null, limit: 200 };

const aDueDelivery = () => anEngineWith(db, 1);

test("processes that claim at once share the work, and no two claim the same delivery", async () => {
  const { deps, organization, claim } = await aDueDelivery();
  await publish(deps, organization, 29);
  const claims = (await Promise.all([claim(), claim(), claim(), claim()])).flat();
  assert.equal(claims.length, 30);
  assert.equal(new Set(claims.map((c) => c.id)).size, 30);
});

test("a delivery of a dead process is claimed again when its lease ends, and no attempt is counted", async () => {
  const { claim, clock } = await aDueDelivery();
  const [lost] = await claim();
  assert.ok(lost);
  clock.advance(29_999);
  assert.deepEqual(await claim(), []);
  clock.advance(1);
  const [again] = await claim();
  assert.equal(again?.id, lost.id);
  assert.equal(again.attempts, 0);
});

test("a claimed delivery is not overdue until its lease ends, and then counts from its due time", async () => {
  const { claim, clock } = await aDueDelivery();
  const dueAt = clock();
  assert.deepEqual(await findNextDueOf(db, null, clock()), dueAt);
  await claim();
  assert.equal(await findNextDueOf(db, null, clock()), null);
  clock.advance(30_000);
  assert.deepEqual(await findNextDueOf(db, null, clock()), dueAt);
});

test("a process that slept past its lease cannot record, and the one with the lease can", async () => {
  const { deps, claim, clock, id } = await aDueDelivery();
  const [slept] = await claim();
  clock.advance(30_000);
  const [awake] = await claim();
  assert.ok(slept && awake);

  const begunInTime = { ...slept, leasedUntil: awake.leasedUntil };
  await attemptAll(deps, [begunInTime], () => acknowledged);
  await attemptAll(deps, [begunInTime], () => refused);
  assert.deepEqual(await listAttempts(db, slept.id).then((rows) => [...rows]), []);
  const [row] = await findSubscriptions(db, [id]);
  assert.equal(row?.consecutiveFailures, 0);

  await attemptAll(deps, [awake], () => acknowledged);
  const [delivery] = await listDeliveries(db, { subscriptionIds: [id] }, ALL);
  assert.equal(delivery?.state, "delivered");
  assert.equal(delivery.attempts, 1);
});

test("an attempt during which the clock steps by a month is recorded with the maximum duration", async () => {
  const { deps, clock, claim, id } = await aDueDelivery();
  const claims = await claim();
  await attemptAll(deps, claims, () => {
    clock.advance(30 * 86_400_000);
    return refused;
  });
  const [failure] = await listFailures(db, id, ALL);
  assert.equal(failure?.durationMs, 2 ** 31 - 1);
});

test("after five lost leases in a row one failed attempt, `interrupted`, is recorded and nothing is sent", async () => {
  const { deps, claim, clock, deliverDue, id } = await aDueDelivery();
  for (let lost = 1; lost <= 5; lost++) {
    assert.equal((await claim()).length, 1);
    clock.advance(30_000);
  }
  const claims = await claim();
  await attemptAll(deps, claims, () => assert.fail("sent"));

  const [failure] = await listFailures(db, id, ALL);
  assert.equal(failure?.reason, "interrupted");
  assert.equal(failure.attempt, 1);
  assert.equal(failure.nextAttemptAt?.getTime(), clock().getTime() + 60_000);
  const [row] = await db`
    select consecutive_failures as count from subscriptions where id = ${id}`;
  assert.equal(row?.["count"], 0);
  clock.advance(60_000);
  assert.equal(await deliverDue(() => acknowledged), 1);
});

test("a recorded attempt resets the count of lost leases", async () => {
  const { deps, claim, clock } = await aDueDelivery();
  for (let lost = 1; lost <= 4; lost++) {
    await claim();
    clock.advance(30_000);
  }
  await attemptAll(deps, await claim(), () => refused);
  clock.advance(60_000);
  await claim();
  clock.advance(30_000);
  const [next] = await claim();
  assert.equal(next?.lostLeases, 1);
});

test("a claim is not attempted after its lease, and no attempt is counted", async () => {
  const { deps, claim, clock, deliverDue, id } = await aDueDelivery();
  const late = await claim();
  clock.advance(30_000);
  await attemptAll(deps, late, () => assert.fail("sent"));

  clock.advance(59_999);
  assert.equal(await deliverDue(() => assert.fail("too soon")), 0);
  clock.advance(1);
  const again = await claim();
  assert.deepEqual([again[0]?.attempts, again[0]?.lostLeases], [0, 0]);
  clock.advance(29_999);
  await attemptAll(deps, again, () => acknowledged);
  const [row] = await findSubscriptions(db, [id]);
  assert.equal(row?.consecutiveFailures, 0);
  assert.equal((await listAttempts(db, again[0]?.id ?? "")).length, 1);
});

test("an internal fault delays the delivery by a minute and counts no attempt", async () => {
  const { clock, deliverDue, id } = await aDueDelivery();
  for (let minute = 0; minute < 60; minute++) {
    assert.equal(await deliverDue(() => ({ kind: "internal-fault", fault: "no_resolver" })), 1);
    clock.advance(59_999);
    assert.equal(await deliverDue(() => assert.fail("too soon")), 0);
    clock.advance(1);
  }
  const [row] = await findSubscriptions(db, [id]);
  assert.equal(row?.consecutiveFailures, 0);
  assert.equal(await deliverDue(() => acknowledged), 1);
});

test("a deferred attempt delays the delivery by a second and counts no attempt", async () => {
  const { clock, deliverDue, id } = await aDueDelivery();
  for (let second = 0; second < 10; second++) {
    assert.equal(await deliverDue(() => ({ kind: "deferred" })), 1);
    clock.advance(999);
    assert.equal(await deliverDue(() => assert.fail("too soon")), 0);
    clock.advance(1);
  }
  const [row] = await findSubscriptions(db, [id]);
  assert.equal(row?.consecutiveFailures, 0);
  assert.equal(await deliverDue(() => acknowledged), 1);
});

test("a secret that cannot be opened is an internal fault", async () => {
  const { deps, clock, id } = await aDueDelivery();
  const otherRing = { ...deps, ring: [{ id: "test", key: randomBytes(32) }] as const };
  await attemptAll(otherRing, await claimAll(otherRing), () => assert.fail("sent"));
  const [delivery] = await listDeliveries(db, { subscriptionIds: [id] }, ALL);
  assert.equal(delivery?.attempts, 0);
  assert.equal(delivery.dueAt?.getTime(), clock().getTime() + 60_000);
});

test("a delivery of an inactive subscription is cancelled when it is claimed", async () => {
  const { clock, claim, id } = await aDueDelivery();
  await db`update subscriptions set auto_disabled_at = ${clock()} where id = ${id}`;
  assert.deepEqual(await claim(), []);
  const [delivery] = await listDeliveries(db, { subscriptionIds: [id] }, ALL);
  assert.equal(delivery?.state, "cancelled");
});

test("a success that is recorded during a deletion waits for it, and both succeed", async () => {
  const { deps, claim, clock, organization, id } = await aDueDelivery();
  await publish(deps, organization);
  const [first, second] = await claim();
  assert.ok(first && second);
  await attemptAll(deps, [first], () => refused);

  const recorded = await db.begin(async (tx) => {
    await deleteRow(tx, id, { organizationId: organization, now: clock() });
    const recording = attemptAll(deps, [second], () => acknowledged);
    await untilBlocked(db);
    await cancelWaiting(tx, [id], clock());
    return { recording };
  });
  await recorded.recording;
  const attempts = await listAttempts(db, second.id);
  assert.equal(attempts.length, 1);
  const deliveries = await listDeliveries(db, { subscriptionIds: [id] }, ALL);
  const delivery = deliveries.find((one) => one.id === second.id);
  assert.equal(delivery?.state, "delivered"); // The receiver has acknowledged it.
});
