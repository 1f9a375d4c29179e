import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { createPartitions } from "../../src/jobs/maintenance-sql.ts";
import {
  recordLateFailures,
  recordLateSuccesses,
} from "../../src/subjects/deliveries/attempts-sql.ts";
import { deleteSubscription } from "../../src/subjects/subscriptions/work.ts";
import { column } from "../support/columns.ts";
import { ERA } from "../support/clock.ts";
import { createDatabase, ownerOf } from "../support/database.ts";
import { acknowledged, anEngineWith, refused } from "../support/engine.ts";

const DAY_MS = 86_400_000;

test("deliveries can change and move in a database that publishes all tables, as for change data capture", async () => {
  const db = await createDatabase();
  const owner = ownerOf(db);
  await owner.unsafe("create publication everything for all tables");

  const { deps, clock, claim, organization, id } = await anEngineWith(db, 2);
  const claims = await claim();
  await deleteSubscription(deps, organization, id);
  const [failed, succeeded] = claims.map((one, i) => ({
    ...{ id: randomUUID(), claim: one, outcome: i === 0 ? refused : acknowledged },
    ...{ startedAt: clock(), endedAt: clock() },
  }));
  assert.ok(failed && succeeded);
  assert.equal((await recordLateFailures(db, [failed], new Date(0))).length, 1);
  assert.equal((await recordLateSuccesses(db, [succeeded], new Date(0))).length, 1);

  for (const days of [100, 200]) {
    const count = days === 100 ? 1 : 50_001; // So many stay where they are, and get a partition around them.
    const at = new Date(ERA.getTime() - days * DAY_MS);
    await db`
      insert into finished_deliveries (id, finished_at, subscription_number, ending, attempts, troubled_organization_id)
      select gen_random_uuid(), ${at}, 1, 1, 0, ${randomUUID()} from generate_series(1, ${count}::int)`;
    await createPartitions(db, ERA);
  }
  const unidentified = await owner<{ name: string }[]>`
    select relname as name from pg_class c
     where relkind = 'r' and relpersistence = 'p' and relnamespace = current_schema()::regnamespace and relreplident = 'd'
       and not exists (select from pg_index where indrelid = c.oid and indisprimary)`;
  assert.deepEqual(column(unidentified, "name"), []);
});
