import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import { test } from "node:test";
import type { Queryable } from "../../src/postgres/database.ts";
import { cancelWaiting } from "../../src/subjects/deliveries/cancellation-sql.ts";
import { lockHeld, releaseLeases } from "../../src/subjects/deliveries/claims-sql.ts";
import { publish } from "../../src/subjects/events/publish.ts";
import { admitKeys, insertWindows } from "../../src/subjects/keys/admission-sql.ts";
import { insertApiKey } from "../../src/subjects/keys/sql.ts";
import { insertSubscription, lockHealth } from "../../src/subjects/subscriptions/sql.ts";
import { ERA } from "../support/clock.ts";
import { createDatabase } from "../support/database.ts";
import { anOrganization, aSubscription, createEngine } from "../support/engine.ts";
import { untilBlocked } from "../support/until-blocked.ts";

const db = await createDatabase();
const { deps } = await createEngine(db);

/** Enough rows that hardly any other order than that of ids locks the same rows before the middle. */
const ROWS = 9;
const MIDDLE = 4;
const NOT_LOCKED_YET = [4, 5, 6, 7, 8];

function descendingIds(): string[] {
  return Array.from({ length: ROWS }, () => randomUUID())
    .sort()
    .reverse();
}

/**
 * Holds the row in the middle until `work` waits for it or ends. Returns the rows that `work` had not locked
 * by then, as places in the order of ids. Plans that return ordered rows by chance are disabled, because the
 * planner chooses them by the number of rows.
 */
async function notLockedAtTheMiddle(
  { table, key, ids }: { table: string; key: string; ids: string[] },
  work: (db: Queryable) => Promise<unknown>,
): Promise<number[]> {
  const ordered = ids.toSorted();
  const { working, free } = await db.begin(async (holder) => {
    await holder`
      select from ${holder(table)} where ${holder(key)}::text = ${ordered[MIDDLE] ?? null} for update`;
    const working = db.begin(async (tx) => {
      await tx`set local enable_sort = off`;
      await tx`set local enable_indexscan = off`;
      await work(tx);
    });
    await Promise.race([untilBlocked(db), working]);
    const free = await holder<{ id: string }[]>`
      select ${holder(key)} as id
        from ${holder(table)}
       where ${holder(key)}::text = any(${ids}::text[])
         for update skip locked`;
    return { working, free };
  });
  await working;
  return free.map(({ id }) => ordered.indexOf(id)).sort();
}

/** Deliveries of one subscription under one lease. */
async function leasedDeliveries() {
  const ids = descendingIds();
  const leaseId = randomUUID();
  const { id: subscription } = await aSubscription(deps);
  await db`
    insert into waiting_deliveries
           (id, event_id, subscription_id, organization_id, due_at, lease_id, leased_until)
    select id, gen_random_uuid(), ${subscription}, gen_random_uuid(), ${ERA}, ${leaseId}, ${ERA}
      from unnest(${ids}::uuid[]) as id`;
  return {
    rows: { table: "waiting_deliveries", key: "id", ids },
    leases: ids.map((id) => ({ id, leaseId })),
    subscription,
  };
}

test("leases are locked in one order", async () => {
  const { rows, leases } = await leasedDeliveries();
  assert.deepEqual(await notLockedAtTheMiddle(rows, (tx) => lockHeld(tx, leases)), NOT_LOCKED_YET);
});

test("locked leases stay locked until the transaction ends", async () => {
  const { rows, leases } = await leasedDeliveries();
  await db.begin(async (tx) => {
    assert.equal((await lockHeld(tx, leases)).size, ROWS);
    const free = await db`
      select from waiting_deliveries where id = any(${rows.ids}::uuid[]) for update skip locked`;
    assert.equal(free.length, 0);
  });
});

test("released leases are locked in one order", async () => {
  const { rows, leases } = await leasedDeliveries();
  assert.deepEqual(
    await notLockedAtTheMiddle(rows, (tx) => releaseLeases(tx, leases, ERA)),
    NOT_LOCKED_YET,
  );
});

test("cancelled deliveries are locked in one order", async () => {
  const { rows, subscription } = await leasedDeliveries();
  assert.deepEqual(
    await notLockedAtTheMiddle(rows, (tx) => cancelWaiting(tx, [subscription], ERA)),
    NOT_LOCKED_YET,
  );
});

test("subscriptions are locked in one order", async () => {
  const organizationId = await anOrganization(deps);
  const ids = descendingIds();
  for (const id of ids) {
    await insertSubscription(db, {
      id,
      organizationId,
      host: "receiver.example",
      url: "https://receiver.example/hooks",
      events: ["vc.test.ping"],
      createdAt: ERA,
      sealedSecret: randomBytes(32),
    });
  }
  assert.deepEqual(
    await notLockedAtTheMiddle({ table: "subscriptions", key: "id", ids }, (tx) =>
      lockHealth(tx, ids),
    ),
    NOT_LOCKED_YET,
  );
});

test("rate windows are locked in one order", async () => {
  const keys: { organizationId: string; keyId: string; secretHash: string }[] = [];
  for (let n = 0; n < ROWS; n++) {
    const organizationId = await anOrganization(deps);
    const key = {
      organizationId,
      keyId: randomBytes(10).toString("hex"),
      secretHash: randomBytes(32).toString("hex"),
    };
    await insertApiKey(db, {
      ...key,
      scopes: ["identity:read"],
      label: null,
      createdAt: ERA,
    });
    keys.push(key);
  }
  const ids = keys.map((key) => key.organizationId);
  await insertWindows(db, ids);
  const presented = keys
    .toSorted((a, b) => (a.organizationId > b.organizationId ? -1 : 1))
    .map(({ keyId, secretHash }) => ({ keyId, secretHash, requests: 1 }));

  assert.deepEqual(
    await notLockedAtTheMiddle({ table: "rate_windows", key: "organization_id", ids }, (tx) =>
      admitKeys(tx, presented, { now: ERA, expired: ERA }),
    ),
    NOT_LOCKED_YET,
  );
});

test("dedupe keys are taken in one order", async () => {
  const organizationId = await anOrganization(deps);
  const ids = descendingIds();
  const events = ids.map((dedupeKey) => ({
    ...{ organizationId, type: "vc.test.ping", data: "{}", dedupeKey },
  }));
  await publish(deps, db, events);
  assert.deepEqual(
    await notLockedAtTheMiddle({ table: "dedupe_keys", key: "key", ids }, (tx) =>
      publish(deps, tx, events),
    ),
    NOT_LOCKED_YET,
  );
});
