import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import type { DeliveryId, LeaseId } from "../../../src/lib/ids.ts";
import {
  deleteEndedSessions,
  deleteOldAnswers,
  deleteOldKeys,
} from "../../../src/postgres/expired-rows.ts";
import {
  cancelForReason,
  cancelWaiting,
  cancelWaitingOfEvent,
} from "../../../src/subjects/deliveries/cancellation-sql.ts";
import { lockHeld, releaseLeases } from "../../../src/subjects/deliveries/claims-sql.ts";
import { makeAllDue, makeDue } from "../../../src/subjects/deliveries/waiting-sql.ts";
import { createDatabase, ownerOf } from "../../support/database.ts";
import { acknowledged, anEngineWith, attemptAll, claimAll, refused } from "../../support/engine.ts";

const LONG = 12_000;
/** It compares every row of a table that can be long with every row of something else. */
const QUADRATIC =
  /Nested Loop.*\n +Join Filter.*\n +->.* on (?:waiting_deliveries|dedupe_keys|kept_answers|ended_sessions)/;

test("plans that were made while tables were short compare no long one with each of many ids", async () => {
  const db = await createDatabase({ max: 1 });
  const { deps, clock, organization, id } = await anEngineWith(db, 2);
  await ownerOf(db).unsafe("vacuum analyze");
  for (const outcome of [refused, acknowledged])
    await attemptAll(deps, (await claimAll(deps)).slice(0, 1), () => outcome);
  const [now, none] = [clock(), randomUUID()];
  const lease = { id: none as DeliveryId, leaseId: none as LeaseId };
  await makeDue(db, lease.id, now);
  await makeAllDue(db, [lease.id], now);
  await lockHeld(db, [lease]);
  await releaseLeases(db, [lease], now);
  await cancelForReason(db, [lease.id], { reason: "test", now });
  await cancelWaitingOfEvent(db, none, now);
  await cancelWaiting(db, [id], now);
  await deleteOldKeys(db, now);
  await deleteOldAnswers(db, now);
  await deleteEndedSessions(db, now);

  await db`
    insert into waiting_deliveries (id, event_id, subscription_id, organization_id, due_at)
    select gen_random_uuid(), gen_random_uuid(), ${id}, ${organization}, ${now} from generate_series(1, ${LONG}::integer)`;
  const statements = await db<{ name: string; statement: string }[]>`
    select name, statement from pg_prepared_statements
     where statement ~ 'waiting_deliveries|dedupe_keys|kept_answers|ended_sessions' and statement !~ 'insert into waiting|pg_prepared'`;
  const plans = await Promise.all(
    statements.map(async (one) => ({ ...one, plan: await planOf(one) })),
  );
  const quadratic = plans.filter(({ plan }) => QUADRATIC.test(plan));
  assert.ok(plans.length >= 13, `there are ${plans.length} statements`);
  assert.deepEqual(quadratic, []);

  async function planOf({ name, statement }: { name: string; statement: string }) {
    const parameters = new Set(statement.match(/\$\d+/g)).size;
    const nulls = parameters === 0 ? "" : `(${Array(parameters).fill("null").join()})`;
    const rows = await db.unsafe(`explain execute "${name}"${nulls}`);
    return rows.map((row) => (row as { "QUERY PLAN": string })["QUERY PLAN"]).join("\n");
  }
});
