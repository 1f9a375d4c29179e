import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { recordAttempts } from "../../src/subjects/deliveries/attempts.ts";
import { deleteSubscription } from "../../src/subjects/subscriptions/work.ts";
import { createDatabase } from "../support/database.ts";
import { anEngineWith, claimAll } from "../support/engine.ts";
import { untilBlocked } from "../support/until-blocked.ts";

const QUEUE = 12_000;

/** A subscription with a claimed delivery and a long queue behind it. */
async function aLongQueue() {
  const db = await createDatabase();
  const { deps, clock, id } = await anEngineWith(db, 1);
  const [claim] = await claimAll(deps);
  assert.ok(claim);
  await db`
    insert into waiting_deliveries (id, event_id, subscription_id, organization_id, due_at)
    select gen_random_uuid(), event_id, subscription_id, organization_id, due_at + interval '1 day'
      from waiting_deliveries, generate_series(1, ${QUEUE})`;
  const countWaiting = async () => {
    const [row] = await db<[{ count: number }]>`select count(*)::int from waiting_deliveries`;
    return row.count;
  };
  /** The number of deliveries that each transaction cancelled. */
  const cancelledTogether = async () => {
    while ((await countWaiting()) > 0) await sleep(20);
    const rows = await db<{ count: number }[]>`
      select count(*)::int from finished_deliveries where ending = 1 group by xmin::text order by 1`;
    return rows.map((row) => row.count);
  };
  return { db, deps, clock, id, claim, cancelledTogether };
}

test("deleting a subscription with a long queue cancels all of it in short transactions", async () => {
  const { deps, id, cancelledTogether } = await aLongQueue();
  await deleteSubscription(deps, null, id);
  assert.deepEqual(await cancelledTogether(), [2_001, 5_000, 5_000]);
});

test("disabling a subscription cancels a long queue in short transactions, and records the failed attempt", async () => {
  const { deps, clock, claim, cancelledTogether } = await aLongQueue();
  deps.rules = { ...deps.rules, autoDisableAfter: 1 };
  const outcome = { kind: "refused", httpStatus: 500 } as const;
  const { disabled } = await recordAttempts(deps, [
    { id: randomUUID(), claim, outcome, startedAt: clock(), endedAt: clock() },
  ]);
  assert.equal(disabled.length, 1);
  assert.deepEqual(await cancelledTogether(), [2_000, 5_000, 5_001]);
});

test(
  "an outcome recorded during a long cancellation does not end it",
  { timeout: 60_000 },
  async () => {
    const { db, deps, id, claim, cancelledTogether } = await aLongQueue();
    let deleting: Promise<void> | undefined;
    await db.begin(async (tx) => {
      await tx`delete from waiting_deliveries where id = ${claim.id}`;
      deleting = deleteSubscription(deps, null, id);
      await untilBlocked(db);
    });
    await deleting;
    assert.deepEqual(await cancelledTogether(), [2_001, 4_999, 5_000]);
  },
);
