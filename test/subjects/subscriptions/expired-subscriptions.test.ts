import assert from "node:assert/strict";
import { test } from "node:test";
import { dropExpiredPartitions } from "../../../src/jobs/maintenance-sql.ts";
import { column } from "../../support/columns.ts";
import { createDatabase, ownerOf } from "../../support/database.ts";
import { anOrganization, aSubscription, createEngine } from "../../support/engine.ts";

const DAY_MS = 86_400_000;
const db = await createDatabase();
const now = new Date();

test("deleted subscriptions are removed in batches when they are old enough and unreferenced", async () => {
  const { deps } = await createEngine(db);
  const organization = await anOrganization(deps);
  const [kept, awaited] = [
    await aSubscription(deps, organization),
    await aSubscription(deps, organization),
  ];
  const gone = new Date(now.getTime() - 31 * DAY_MS);
  await db`
    insert into subscriptions (id, organization_id, url, events, created_at, deleted_at)
    select gen_random_uuid(), organization_id, url, events, created_at, ${gone}
      from subscriptions, generate_series(1, 1500) where id = ${kept.id}`;
  await db`update subscriptions set sealed_secret = null, deleted_at = ${gone} where id = ${awaited.id}`;
  await db`insert into waiting_deliveries (id, event_id, subscription_id, organization_id, due_at)
           values (${kept.id}, ${kept.id}, ${awaited.id}, ${organization}, ${now})`;

  const [first] = await db`select delete_expired_rows(${now}) as deleted`;
  assert.equal(first?.["deleted"], 1000);
  await dropExpiredPartitions(db, now);
  const left = await db<{ id: string }[]>`select id from subscriptions order by id`;
  assert.deepEqual(column(left, "id"), [kept.id, awaited.id].sort());
});

test("no subscription is removed while finished deliveries wait for their export, which names them", async () => {
  const { deps } = await createEngine(db);
  const { id } = await aSubscription(deps);
  const gone = new Date(now.getTime() - 31 * DAY_MS);
  await db`update subscriptions set sealed_secret = null, deleted_at = ${gone} where id = ${id}`;
  const isLeft = async () => {
    await db`select delete_expired_rows(${now})`;
    return (await db`select from subscriptions where id = ${id}`).length === 1;
  };
  const waiting = {
    partition: "finished_deliveries_20260101_000000_expired",
    until: gone,
    next_at: now,
  };
  await ownerOf(db)`insert into history_exports ${db(waiting)}`;
  assert.equal(await isLeft(), true);
  await ownerOf(db)`delete from history_exports`;
  assert.equal(await isLeft(), false);
});
