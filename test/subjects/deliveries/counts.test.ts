import assert from "node:assert/strict";
import { after, test } from "node:test";
import { publicId } from "../../../src/lib/ids.ts";
import { countDeliveries } from "../../../src/subjects/deliveries/search-sql.ts";
import type { DeliveriesPageView } from "../../../src/subjects/listings.ts";
import { createCommandLine } from "../../support/command-line.ts";
import { createDatabase } from "../../support/database.ts";
import {
  acknowledged,
  anOrganization,
  aSubscription,
  attemptAll,
  claimAll,
  createEngine,
  publish,
  refused,
} from "../../support/engine.ts";
import { startOperatorApi } from "../../support/operator-api.ts";

const db = await createDatabase();
const { deps, clock, deliverDue } = await createEngine(db);
const { ask } = startOperatorApi({ after }, deps);
const { run, json } = createCommandLine(deps);

const page = async (query: string) =>
  (await ask({ url: `deliveries?${query}` })).body as DeliveriesPageView;

/** Writes waiting and delivered rows, a millisecond apart, oldest first. */
async function fill(
  { id, organizationId }: { id: string; organizationId: string },
  { waiting = 0, delivered = 0, reason = null as string | null },
): Promise<void> {
  const at = clock();
  const idAt = db`overlay(first_id_at(${at}::timestamptz + n * interval '1 ms')::text placing substr(gen_random_uuid()::text, 16) from 16)::uuid`;
  await db`
    insert into waiting_deliveries (id, event_id, subscription_id, organization_id, due_at, last_reason)
    select ${idAt}, gen_random_uuid(), ${id}, ${organizationId}, ${at}, ${reason}
      from generate_series(1, ${waiting}::int) n`;
  await db`
    insert into finished_deliveries (id, finished_at, subscription_number, ending, attempts, duration_ms)
    select ${idAt}, ${at}, (select number from subscriptions where id = ${id}), 200, 1, 1
      from generate_series(1, ${delivered}::int) n`;
}

test("a search counts its matches in each state, also in those that it does not list", async () => {
  const organizationId = await anOrganization(deps);
  const subscription = await aSubscription(deps, organizationId);
  await publish(deps, organizationId, 3);
  await deliverDue(() => acknowledged);
  await publish(deps, organizationId, 2);
  await attemptAll(deps, await claimAll(deps), () => refused);
  const organization = `organization=${publicId("org", organizationId)}`;
  const counts = { waiting: 2, delivered: 3, dead_lettered: 0, cancelled: 0 };
  for (const more of ["", "&state=waiting", "&state=cancelled", "&limit=1"]) {
    const found = await page(`${organization}&count=true${more}`);
    assert.deepEqual([found.counts, found.searched_until], [counts, null], more);
  }
  const wh = publicId("wh", subscription.id);
  assert.deepEqual((await page(`subscription=${wh}&count=true`)).counts, counts);
  const failed = { ...counts, delivered: 0 };
  assert.deepEqual((await page(`${organization}&count=true&reason=http_503`)).counts, failed);
  assert.deepEqual((await page(`host=receiver.example&count=true&reason=timeout`)).counts, {
    ...failed,
    waiting: 0,
  });
  assert.ok(!("counts" in (await page(organization))));
  assert.equal((await ask({ url: "deliveries?count=maybe" })).status, 422);

  const { stdout } = await run("delivery", "list", "--subscription", wh, "--count");
  assert.match(stdout, /^2 waiting, 3 delivered, 0 dead_lettered, 0 cancelled\nID /);
  const told = await json<DeliveriesPageView>("delivery", "list", "--subscription", wh, "--count");
  assert.deepEqual(told.counts, counts);
});

test("counts are exact to ten thousand, and one more stands for more", async () => {
  const organizationId = await anOrganization(deps);
  const [one, other] = [
    await aSubscription(deps, organizationId),
    await aSubscription(deps, organizationId),
  ];
  await fill(one, { waiting: 9_990, delivered: 6_000 });
  await fill(other, { waiting: 10, delivered: 4_000 });
  const organization = `organization=${publicId("org", organizationId)}&count=true&limit=1`;
  const exact = await page(organization);
  assert.deepEqual([exact.counts?.waiting, exact.counts?.delivered], [10_000, 10_000]);
  assert.equal(exact.searched_until, null);
  await fill(other, { waiting: 5, delivered: 500 });
  const more = await page(organization);
  assert.deepEqual([more.counts?.waiting, more.counts?.delivered], [10_001, 10_001]);
  assert.equal(more.searched_until, null);
});

test("a count that reads too many says until when it has searched, and is exact since then", async () => {
  const organizationId = await anOrganization(deps);
  const subscription = await aSubscription(deps, organizationId);
  await fill(subscription, { waiting: 3, reason: "timeout" });
  clock.advance(1_000);
  await fill(subscription, { waiting: 60_000, reason: "http_503" });
  clock.advance(100_000);
  await fill(subscription, { waiting: 2, reason: "timeout" });
  const filter = { subscriptionIds: [subscription.id], reason: "timeout" };
  const { counts, reached } = await countDeliveries(db, filter);
  assert.equal(counts.waiting, 2);
  assert.ok(reached);
  const query = `subscription=${publicId("wh", subscription.id)}&reason=timeout&state=waiting`;
  const found = await page(`${query}&count=true`);
  assert.deepEqual([found.items.length, found.counts?.waiting], [2, 2]);
  assert.ok(found.searched_until && found.next_cursor);

  const none = query.replace("timeout", "dns_error");
  const empty = await page(none);
  assert.deepEqual(empty.items, []);
  assert.ok(empty.searched_until && empty.next_cursor, "an empty page is not the end");
  const options = none.split("&").flatMap((pair) => {
    const [name, value = ""] = pair.split("=");
    return [`--${name}`, value];
  });
  const { stdout, stderr } = await run("delivery", "list", ...options);
  assert.equal(stdout, "None among those that were searched so far.\n");
  assert.match(stderr, /^Search on: add --cursor \S+\n$/);
});
