import assert from "node:assert/strict";
import { test } from "node:test";
import { publish } from "../../src/subjects/events/publish.ts";
import { SUBSCRIPTIONS_MAX } from "../../src/subjects/subscriptions/rules.ts";
import { column } from "../support/columns.ts";
import { createDatabase } from "../support/database.ts";
import { anEngineWith } from "../support/engine.ts";

const db = await createDatabase();

test("every text and JSON column has a bound", async () => {
  const rows = await db<{ name: string }[]>`
    select c.relname || '.' || a.attname as name
      from pg_class c
      join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
       and c.relname not in ('settings', 'schema_migrations') -- Which only the owner writes.
       and a.atttypid in ('text'::regtype, 'bytea'::regtype, 'text[]'::regtype, 'jsonb'::regtype)
       and not exists (
         select from pg_constraint k where k.conrelid = c.oid and k.contype = 'c' and a.attnum = any(k.conkey))`;
  assert.deepEqual(column(rows, "name"), []);
});

test("an event reaches as many subscriptions as an organization can ever have", async () => {
  const { deps, organization: organizationId, id } = await anEngineWith(db);
  await db`
    insert into subscriptions (id, organization_id, url, events, sealed_secret, created_at)
    select gen_random_uuid(), organization_id, url, events, sealed_secret, created_at
      from subscriptions, generate_series(2, ${SUBSCRIPTIONS_MAX}) where id = ${id}`;

  const event = { organizationId, type: "vc.test.ping", data: "{}" };
  const [published] = await db.begin((tx) => publish(deps, tx, [event]));
  assert.equal(published?.subscriptionIds.length, SUBSCRIPTIONS_MAX);
});
