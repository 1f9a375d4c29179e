import assert from "node:assert/strict";
import { test } from "node:test";
import { countBacklog, EXACT_MAX } from "../../../src/subjects/deliveries/sql.ts";
import { createDatabase, ownerOf } from "../../support/database.ts";
import { aSubscription, createEngine } from "../../support/engine.ts";

const db = await createDatabase();
const { deps, clock } = await createEngine(db);

test("waiting deliveries are counted exactly to ten thousand, and estimated beyond", async () => {
  const { id, organizationId } = await aSubscription(deps);
  const fill = (count: number) => db`
    insert into waiting_deliveries (id, event_id, subscription_id, organization_id, due_at)
    select gen_random_uuid(), gen_random_uuid(), ${id}, ${organizationId}, ${clock()}
      from generate_series(1, ${count}::int)`;
  await fill(EXACT_MAX);
  assert.deepEqual(await countBacklog(db, null, clock()), {
    ...{ due: EXACT_MAX, scheduled: 0, held: 0 },
    estimated: false,
  });
  await fill(EXACT_MAX);
  await ownerOf(db)`analyze waiting_deliveries`;
  const { due, estimated } = await countBacklog(db, null, clock());
  assert.ok(estimated);
  assert.ok(Math.abs(due / (2 * EXACT_MAX) - 1) < 0.2, String(due));
});
