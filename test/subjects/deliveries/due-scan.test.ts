import assert from "node:assert/strict";
import { test } from "node:test";
import { listDueSubscriptions } from "../../../src/subjects/deliveries/claims-sql.ts";
import { ERA } from "../../support/clock.ts";
import { createDatabase } from "../../support/database.ts";

const db = await createDatabase();
const LAST = "ffffffff-ffff-4fff-bfff-ffffffffffff";

async function look(after: string | null, limit = 1_000) {
  const { due, upTo } = await listDueSubscriptions(db, { now: ERA, after, limit });
  return { due: due.map((d) => d.subscriptionId), upTo };
}

test("a scan reads at most its bound of subscriptions, and the next one continues there", async () => {
  await db`
    insert into waiting_deliveries (id, event_id, subscription_id, organization_id, due_at)
    select gen_random_uuid(), gen_random_uuid(), coalesce(subscription, ('0' || substr(gen_random_uuid()::text, 2))::uuid),
           gen_random_uuid(), ${ERA}::timestamptz + case when subscription is null then '1 hour' else '0'::interval end
      from (select null::uuid from generate_series(1, 6000) union all select ${LAST}::uuid) as s (subscription)`;
  const [fiveThousandth] = await db<{ id: string }[]>`
    select subscription_id as id from waiting_deliveries order by 1 offset 4999 limit 1`;

  const first = await look(null);
  assert.deepEqual(first, { due: [], upTo: fiveThousandth?.id });
  assert.deepEqual(await look(first.upTo), { due: [LAST], upTo: null });
  assert.deepEqual(await look(first.upTo, 1), { due: [LAST], upTo: LAST });
});
