import assert from "node:assert/strict";
import { after, test } from "node:test";
import { publicId } from "../../../src/lib/ids.ts";
import type { Page } from "../../../src/lib/page.ts";
import { type AttemptView, pageOfFailures } from "../../../src/subjects/deliveries/work.ts";
import { getOrganization } from "../../../src/subjects/organizations/work.ts";
import type { OperatedSubscriptionView } from "../../../src/subjects/subscriptions/work.ts";
import { createDatabase } from "../../support/database.ts";
import {
  anOrganization,
  aSubscription,
  createEngine,
  publish,
  refused,
} from "../../support/engine.ts";
import { startOperatorApi } from "../../support/operator-api.ts";

const { deps, clock } = await createEngine(await createDatabase());
const { ask } = startOperatorApi({ after }, deps);

const slugOf = async ({ organizationId: id }: { organizationId: string }) =>
  (await getOrganization(deps, publicId("org", id))).slug;

test("subscriptions of all organizations are listed and deleted, without their secrets", async (t) => {
  const { ask, subjectsOf } = startOperatorApi(t, deps);
  const made = await aSubscription(deps);
  const id = publicId("wh", made.id);
  const list = await ask({ url: "subscriptions" });
  assert.equal(list.status, 200);
  const [shown] = (list.body as Page<OperatedSubscriptionView>).items;
  assert.deepEqual(shown, {
    id,
    organization_id: publicId("org", made.organizationId),
    url: made.url,
    events: ["vc.test.ping"],
    active: true,
    auto_disabled_at: null,
    consecutive_failures: 0,
    created_at: made.createdAt.toISOString(),
    organization: { id: publicId("org", made.organizationId), slug: await slugOf(made) },
    max_per_second: null,
    held_at: null,
    release_by: null,
  });

  const remove = () => ask({ method: "DELETE", url: `subscriptions/${id}` });
  const first = await remove();
  assert.deepEqual([first.status, first.text], [204, ""]);
  assert.equal((await remove()).status, 404);
  assert.equal((await ask({ method: "DELETE", url: "subscriptions/wh_x" })).status, 404);
  assert.deepEqual(subjectsOf("delete_subscription"), [id]);
});

test("subscriptions are read page by page and limited by every filter", async () => {
  const organizationId = await anOrganization(deps);
  const organization = publicId("org", organizationId);
  const elsewhere = publicId("wh", (await aSubscription(deps)).id);
  const all: string[] = [];
  for (let i = 0; i < 5; i++) {
    all.unshift(publicId("wh", (await aSubscription(deps, organizationId)).id));
    if (i % 2 === 0) clock.advance(1);
  }
  const read = async (query: string) => {
    const found: string[] = [];
    for (let cursor = ""; ;) {
      const more = cursor === "" ? "" : `&cursor=${cursor}`;
      const { status, body } = await ask({ url: `subscriptions?limit=2&${query}${more}` });
      assert.equal(status, 200);
      const { items, next_cursor } = body as Page<OperatedSubscriptionView>;
      found.push(...items.map((item) => item.id));
      if (next_cursor === null) return found;
      cursor = next_cursor;
    }
  };
  assert.deepEqual((await read(`organization=${organization}`)).toSorted(), all.toSorted());
  assert.deepEqual(await read(`organization=${organization}&active=false`), []);
  assert.deepEqual((await read("active=true")).toSorted(), [elsewhere, ...all].toSorted());
  assert.equal((await ask({ url: "subscriptions?organization=nobody" })).status, 404);
  assert.equal((await ask({ url: "subscriptions?active=1" })).status, 422);
});

test("an operator sets, changes and removes a ceiling on a subscription's attempts", async (t) => {
  const { ask, subjectsOf } = startOperatorApi(t, deps);
  const made = await aSubscription(deps);
  const id = publicId("wh", made.id);
  const set = (max_per_second: unknown, url = `subscriptions/${id}`) =>
    ask({ method: "PATCH", url, body: { max_per_second } });
  const shown = async () => {
    const { body } = await ask({
      url: `subscriptions?organization=${publicId("org", made.organizationId)}`,
    });
    return (body as Page<OperatedSubscriptionView>).items[0];
  };

  for (const ceiling of [1, 10_000, 25, null, null, 7]) {
    const { status, body } = await set(ceiling);
    assert.deepEqual([status, body], [200, await shown()]);
    assert.equal((body as OperatedSubscriptionView).max_per_second, ceiling);
  }
  for (const bad of [0, 10_001, 1.5, "10", -1, {}, undefined]) {
    const { status, body } = await set(bad);
    const { errors } = body as { errors: { pointer: string }[] };
    assert.deepEqual(
      [status, errors.map((e) => e.pointer)],
      [422, ["/max_per_second"]],
      JSON.stringify(bad),
    );
  }
  assert.equal((await shown())?.max_per_second, 7);
  assert.deepEqual(
    subjectsOf("set_ceiling"),
    Array.from({ length: 6 }, () => id),
  );
  await ask({ method: "DELETE", url: `subscriptions/${id}` });
  for (const url of [`subscriptions/${id}`, "subscriptions/wh_x"]) {
    assert.equal((await set(5, url)).status, 404);
    assert.equal((await set(null, url)).status, 404);
  }
});

test("operators read the failures audit of any subscription page by page, as its partner does", async (t) => {
  const { deps, deliverDue } = await createEngine(await createDatabase());
  const { ask } = startOperatorApi(t, deps);
  const { id, organizationId: organization } = await aSubscription(deps);
  await publish(deps, organization, 3);
  await deliverDue(() => refused);

  const url = `subscriptions/${publicId("wh", id)}/failures`;
  const partners = await pageOfFailures(deps, organization, { id });
  assert.equal(partners.items.length, 3);
  const { items, next_cursor } = partners;
  assert.deepEqual((await ask({ url })).body, { items, next_cursor });
  const first = (await ask({ url: `${url}?limit=2` })).body as Page<AttemptView>;
  const rest = (await ask({ url: `${url}?limit=2&cursor=${first.next_cursor}` })).body;
  assert.deepEqual([...first.items, ...(rest as Page<AttemptView>).items], partners.items);
  assert.equal((await ask({ url: "subscriptions/wh_x/failures" })).status, 404);
});

test("in the order `failing`, auto-disabled and failing ones come first, also behind a hundred newer ones", async () => {
  const organizationId = await anOrganization(deps);
  const made: string[] = [];
  for (let i = 0; i < 103; i++) {
    made.push((await aSubscription(deps, organizationId)).id);
    clock.advance(1);
  }
  const [disabled = "", failing = "", worse = ""] = made;
  await deps.db`update subscriptions set auto_disabled_at = ${clock()} where id = ${disabled}`;
  await deps.db`update subscriptions set consecutive_failures = 3 where id = ${failing}`;
  await deps.db`update subscriptions set consecutive_failures = 12 where id = ${worse}`;
  const found: string[] = [];
  for (let more = ""; ;) {
    const query = `organization=${publicId("org", organizationId)}&order=failing&limit=2${more}`;
    const { body } = await ask({ url: `subscriptions?${query}` });
    const { items, next_cursor } = body as Page<OperatedSubscriptionView>;
    found.push(...items.map(({ id }) => id));
    if (next_cursor === null) break;
    more = `&cursor=${next_cursor}`;
  }
  const newest = made.slice(3).reverse();
  assert.deepEqual(
    found,
    [disabled, worse, failing, ...newest].map((id) => publicId("wh", id)),
  );
  const shown = await ask({ url: `organizations/${publicId("org", organizationId)}` });
  assert.equal((shown.body as { subscriptions: number }).subscriptions, 103);
  assert.equal((await ask({ url: "subscriptions?order=oldest" })).status, 422);
});
