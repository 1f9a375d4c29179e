import assert from "node:assert/strict";
import { test } from "node:test";
import { after } from "../../../src/lib/clock.ts";
import { randomId } from "../../../src/lib/ids.ts";
import { claimDue } from "../../../src/subjects/deliveries/claims-sql.ts";
import { claimDeliveries } from "../../../src/subjects/deliveries/claims.ts";
import { createDatabase } from "../../support/database.ts";
import { anOrganization, aSubscription, createEngine, publish } from "../../support/engine.ts";

const db = await createDatabase();

/** Three subscriptions with these numbers of due deliveries. */
async function threeOf(each: number) {
  const { deps } = await createEngine(db);
  const organization = await anOrganization(deps);
  const ids: string[] = [];
  while (ids.length < 3) ids.push((await aSubscription(deps, organization)).id);
  await publish(deps, organization, each);
  return { deps, ids };
}

/**
 * The number of claimed deliveries of each subscription. The claim's limit is `limit`, and the quota of each
 * is two.
 */
async function claimed(
  { deps, ids }: Awaited<ReturnType<typeof threeOf>>,
  limit: number,
): Promise<number[]> {
  const quotas = ids.map((subscriptionId) => ({ subscriptionId, quota: 2 }));
  const { claims } = await claimDeliveries(deps, { quotas, limit });
  return ids.map((id) => claims.filter((c) => c.subscriptionId === id).length);
}

test("a claim of all deliveries of a page writes to no index", async () => {
  const { deps, ids } = await threeOf(100);
  const quotas = ids.map((subscriptionId) => ({ subscriptionId, quota: 100 }));
  const now = deps.clock();
  const lease = { now, leasedUntil: after(now, 30_000), leaseId: randomId() };
  await db.begin(async (tx) => {
    await claimDue(tx, { quotas, limit: 300 }, lease);
    const [counted] = await tx`
      select n_tup_upd::int as claimed, n_tup_hot_upd::int as "inPlace"
        from pg_stat_xact_user_tables where relname = 'waiting_deliveries'`;
    assert.deepEqual({ ...counted }, { claimed: 300, inPlace: 300 });
  });
});

test("a claim takes at most the quota of each subscription", async () => {
  assert.deepEqual(await claimed(await threeOf(3), 100), [2, 2, 2]);
});

test("a claim takes at most its limit, and subscriptions named first come first", async () => {
  const three = await threeOf(3);
  three.ids.sort().reverse();
  assert.deepEqual(await claimed(three, 3), [2, 1, 0]);
  assert.deepEqual(await claimed(three, 3), [1, 2, 0]);
});

test("a claim skips deliveries that another transaction has locked", async () => {
  const three = await threeOf(1);
  const [locked = ""] = three.ids;
  const impatient = { ...three, deps: { ...three.deps, db: db.within(10_000) } };
  await db.begin(async (tx) => {
    await tx`select from waiting_deliveries where subscription_id = ${locked} for update`;
    assert.deepEqual(await claimed(impatient, 100), [0, 1, 1]);
  });
});

test(
  "leases of healthy subscriptions do not wait for cancellations in the same claim",
  { timeout: 60_000 },
  async () => {
    const { deps, ids } = await threeOf(2);
    const [gone = ""] = ids;
    await db`update subscriptions set deleted_at = ${deps.clock()}, sealed_secret = null where id = ${gone}`;
    await db.begin(async (tx) => {
      await tx`select from waiting_deliveries where subscription_id = ${gone} limit 1 for update`;
      assert.deepEqual(await claimed({ deps, ids }, 6), [0, 2, 2]);
    });
    await deps.cancelling.restCancelled();
    const left = await db`select from waiting_deliveries where subscription_id = ${gone}`;
    assert.equal(left.length, 0);
  },
);

test("a delivery that is cancelled instead of attempted counts as taken", async () => {
  const { deps, ids } = await threeOf(1);
  const [gone = "", ...active] = ids;
  await db`update subscriptions set deleted_at = ${deps.clock()}, sealed_secret = null where id = ${gone}`;
  const quotas = ids.map((subscriptionId) => ({ subscriptionId, quota: 1 }));
  const { claims, subscriptionIds } = await claimDeliveries(deps, { quotas, limit: 3 });
  assert.deepEqual(claims.map((c) => c.subscriptionId).sort(), active.sort());
  assert.deepEqual(subscriptionIds.sort(), ids.sort());
  await deps.cancelling.restCancelled();
});

test("later subscriptions fill the claim if the first have fewer due deliveries than their quota", async () => {
  assert.deepEqual(await claimed(await threeOf(1), 2), [1, 1, 0]);
});
