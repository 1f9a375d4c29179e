import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "../../../src/lib/page.ts";
import type { DeliveryView } from "../../../src/subjects/deliveries/work.ts";
import type { RedeliveryPreview } from "../../../src/subjects/redeliveries/work.ts";
import { ownerOf } from "../../support/database.ts";
import { acknowledged, publish } from "../../support/engine.ts";
import { createRedeliveries, org } from "../../support/redeliveries.ts";

/** More than one search can name. */
const MANY = 1_001;

const { deps, deliverDue, deadLetters, runAll, ask, begin, get, post } = await createRedeliveries();

/** A partner that creates and deletes this number of subscriptions. */
async function churn({ id }: { id: string }): Promise<void> {
  await deps.db`
    insert into subscriptions (id, organization_id, url, host, events, created_at, deleted_at)
    select gen_random_uuid(), organization_id, url, host, events, created_at, created_at
      from subscriptions, generate_series(1, ${MANY}) where id = ${id}`;
}

const crowded = await deadLetters(7);
await churn(crowded);
await publish(deps, crowded.organizationId, 2);
await deliverDue(() => acknowledged);
await deadLetters(3);
const waiting = await publish(deps, crowded.organizationId, 1);
await ownerOf(deps.db)`analyze`;

const SEARCHES: [what: string, filter: string, found: number][] = [
  ["everything", "", 7 + 2 + 1],
  ["dead letters", "&state=dead_lettered", 7],
  ["delivered ones", "&state=delivered", 2],
  ["waiting ones", "&state=waiting", 1],
  ["a reason", "&reason=http_503", 7],
  ["a host", "&host=receiver.example", 7 + 2 + 1],
  ["another host", "&host=other.example", 0],
  ["an event", `&event=evt_${waiting[0] ?? ""}`, 1],
];

for (const [what, filter, count] of SEARCHES) {
  test(`deliveries of an organization that has had many subscriptions are found: ${what}`, async () => {
    const { status, body } = await ask({
      url: `deliveries?organization=${org(crowded)}&limit=200${filter}`,
    });
    assert.equal(status, 200, JSON.stringify(body));
    const { items } = body as Page<DeliveryView>;
    assert.equal(items.length, count);
    assert.ok(items.every((item) => item.organization.id === org(crowded)));
  });
}

test("deliveries to a host that has had many subscriptions are found", async () => {
  const { status, body } = await ask({ url: "deliveries?host=receiver.example&limit=200" });
  assert.equal(status, 200, JSON.stringify(body));
  assert.equal((body as Page<DeliveryView>).items.length, 7 + 2 + 1 + 3);
});

test("dead letters of an organization that has had many subscriptions are sent again", async () => {
  const filter = { organization: org(crowded), state: "dead_lettered" };
  const preview = await post({ filter, dry_run: true });
  assert.equal(preview.status, 200, JSON.stringify(preview.body));
  const { estimated, sample } = preview.body as RedeliveryPreview;
  assert.deepEqual([estimated, sample.length], [true, 7]);

  const job = await begin({ filter });
  await runAll();
  const { state, total, done } = await get(job.id);
  assert.deepEqual({ state, total, done }, { state: "finished", total: 7, done: 7 });
});
