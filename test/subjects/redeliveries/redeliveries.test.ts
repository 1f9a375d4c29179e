import assert from "node:assert/strict";
import { test } from "node:test";
import type { Fault } from "../../../src/lib/errors.ts";
import { publicId } from "../../../src/lib/ids.ts";
import type { Page } from "../../../src/lib/page.ts";
import type { DeliveryView } from "../../../src/subjects/deliveries/work.ts";
import type { RedeliveryPreview, RedeliveryView } from "../../../src/subjects/redeliveries/work.ts";
import { deleteSubscription } from "../../../src/subjects/subscriptions/work.ts";
import { acknowledged, aSubscription, publish, refused } from "../../support/engine.ts";
import { codeOf, countsOf, createRedeliveries, org, wh } from "../../support/redeliveries.ts";

const { deps, clock, deliverDue, deadLetters, runAll, ...api } = await createRedeliveries();
const { ask, subjectsOf, begin, get, post, set } = api;

test("a dry run counts the matches, shows a sample, and sends nothing", async () => {
  const subscription = await deadLetters(12);
  const { status, body } = await post({
    filter: { subscription: wh(subscription) },
    dry_run: true,
  });
  assert.equal(status, 200);
  const { count, sample, estimated } = body as RedeliveryPreview;
  assert.deepEqual([count, sample.length, estimated], [12, 10, false]);
  assert.ok(sample.every((item) => item.subscription_id === wh(subscription)));
  const ids = sample.map(({ id }) => id);
  assert.deepEqual(ids, ids.toSorted().toReversed());
  const rows = await deps.db`select from redelivery_jobs`;
  assert.equal(rows.length, 0);
  assert.equal(await deliverDue(() => acknowledged), 0);
});

test("a job redelivers all matches and marks them", async () => {
  const subscription = await deadLetters(30);
  const job = await begin({ filter: { organization: org(subscription) } });
  assert.match(job.id, /^rdl_/);
  assert.equal(countsOf(job), "queued: 0 of 30 done, 0 skipped, 0 failed");
  assert.deepEqual([job.finished_at, job.rate_per_second, job.created_by], [null, 50, "alice"]);
  assert.deepEqual(subjectsOf("create_redelivery"), [job.id]);

  await runAll();
  const events: string[] = [];
  await deliverDue((post) => {
    events.push((JSON.parse(post.body.toString()) as { id: string }).id);
    return acknowledged;
  });
  assert.equal(events.length, 30);
  assert.equal(new Set(events).size, 30);
  const finished = await get(job.id);
  assert.equal(countsOf(finished), "finished: 30 of 30 done, 0 skipped, 0 failed");
  assert.ok(finished.finished_at);
  const { body } = await ask({
    url: `deliveries?subscription=${wh(subscription)}&state=dead_lettered`,
  });
  for (const { redelivered_as } of (body as Page<DeliveryView>).items) {
    assert.match(redelivered_as ?? "", /^dlv_/);
  }
});

test("deliveries that were already redelivered by a job or by hand are skipped", async () => {
  const subscription = await deadLetters(5);
  const filter = { subscription: wh(subscription) };
  const { body } = await ask({ url: `deliveries?subscription=${wh(subscription)}` });
  const [byHand] = (body as Page<DeliveryView>).items;
  await ask({ method: "POST", url: `deliveries/${byHand?.id ?? ""}/redeliver` });

  const first = await begin({ filter });
  await runAll();
  assert.equal(countsOf(await get(first.id)), "finished: 4 of 5 done, 1 skipped, 0 failed");
  const second = await begin({ filter });
  await runAll();
  assert.equal(countsOf(await get(second.id)), "finished: 0 of 5 done, 5 skipped, 0 failed");
  assert.equal(await deliverDue(() => acknowledged), 5);
});

test("delivered events are redelivered only if the filter names that state", async () => {
  const subscription = await aSubscription(deps);
  await publish(deps, subscription.organizationId, 3);
  await deliverDue(() => acknowledged);
  clock.advance(1_000);
  const filter = { subscription: wh(subscription) };
  const none = await begin({ filter });
  const all = await begin({ filter: { ...filter, state: "delivered" } });
  await runAll();
  assert.equal((await get(none.id)).total, 0);
  assert.equal((await get(none.id)).state, "finished");
  assert.equal((await get(all.id)).done, 3);
  assert.equal(await deliverDue(() => acknowledged), 3);
});

test("filters limit a job, and it ignores deliveries that finish after its creation", async () => {
  const subscription = await deadLetters(2);
  const since = clock().toISOString();
  const until = new Date(clock().getTime() + 1).toISOString();
  await publish(deps, subscription.organizationId, 3);
  await deliverDue(() => ({ kind: "unreachable", reason: "timeout" }) as const);
  clock.advance(1_000);

  const filter = { subscription: wh(subscription) };
  const totals: number[] = [];
  const filters = [
    { reason: "timeout" },
    { since },
    { until: since },
    { since, until },
    { state: "cancelled" },
    { event: "vc.test.ping", reason: "http_503" },
  ];
  for (const narrowed of filters)
    totals.push((await begin({ filter: { ...filter, ...narrowed } })).total);
  assert.deepEqual(totals, [3, 3, 2, 3, 0, 2]);

  await publish(deps, subscription.organizationId, 1);
  await deliverDue(() => refused);
  await runAll();
  assert.equal(await deliverDue(() => acknowledged), 5);
  const late = await begin({ filter });
  await runAll();
  assert.deepEqual([(await get(late.id)).done, (await get(late.id)).skipped], [1, 5]);
  assert.equal(await deliverDue(() => acknowledged), 1);
});

test("a deleted subscription's queue goes to another one of the organization", async () => {
  const gone = await aSubscription(deps);
  await publish(deps, gone.organizationId, 4);
  await deleteSubscription(deps, null, gone.id);
  const other = await aSubscription(deps, gone.organizationId);
  clock.advance(1_000);
  const filter = { subscription: wh(gone), state: "cancelled" };

  const own = await begin({ filter });
  await runAll();
  assert.equal(countsOf(await get(own.id)), "finished: 0 of 4 done, 0 skipped, 4 failed");
  const job = await begin({ filter, to: wh(other) });
  await runAll();
  assert.equal((await get(job.id)).done, 4);
  const urls: string[] = [];
  await deliverDue((post) => {
    urls.push((JSON.parse(post.body.toString()) as { subscription_id: string }).subscription_id);
    return acknowledged;
  });
  assert.deepEqual(new Set(urls), new Set([wh(other)]));
});

test("a bad request is refused with all faults at once", async () => {
  const filter = { state: "waiting", since: "yesterday", reason: "bad luck" };
  const pointersOf = async (request: object) => {
    const { status, body } = await post(request);
    assert.equal(status, 422);
    return (body as { errors: Fault[] }).errors.map(({ pointer }) => pointer).sort();
  };
  const pointers = ["/filter", "/filter/reason", "/filter/since", "/filter/state"];
  assert.deepEqual(await pointersOf({ filter }), pointers);
  const more = await pointersOf({ filter, rate_per_second: 1_001 });
  assert.deepEqual(more, [...pointers, "/rate_per_second"]);
});

test("a misspelt filter, which would send too much, is refused", async () => {
  const { organizationId } = await aSubscription(deps);
  const filter = { organization: publicId("org", organizationId), subscripton: "wh_x" };
  assert.equal((await post({ filter })).status, 422);
});

test("unknown, foreign and inactive subscriptions are named", async () => {
  const [one, other] = [await aSubscription(deps), await aSubscription(deps)];
  const nothing = `wh_${"0".repeat(8)}-0000-4000-8000-${"0".repeat(12)}`;
  await deps.db`update subscriptions set auto_disabled_at = ${clock()} where id = ${other.id}`;
  const cases: [object, number, string][] = [
    [{ filter: { organization: "nobody" } }, 404, "not_found"],
    [{ filter: { subscription: nothing } }, 404, "not_found"],
    [{ filter: { organization: org(one), subscription: wh(other) } }, 404, "not_found"],
    [{ filter: { organization: org(one) }, to: wh(other) }, 404, "not_found"],
    [{ filter: { organization: org(one) }, to: "wh_x" }, 404, "not_found"],
    [{ filter: { organization: org(other) }, to: wh(other) }, 409, "subscription_inactive"],
  ];
  for (const [body, status, code] of cases) {
    const answer = await post(body);
    assert.deepEqual([answer.status, codeOf(answer)], [status, code], JSON.stringify(body));
  }
  assert.equal((await ask({ url: "redeliveries/rdl_x" })).status, 404);
  assert.equal((await set("rdl_x", "paused")).status, 404);
  assert.equal((await set("rdl_x", "finished")).status, 422);
});

test("at most a hundred jobs may be unfinished", async () => {
  const subscription = await aSubscription(deps);
  const filter = { subscription: wh(subscription) };
  const jobs: RedeliveryView[] = [];
  for (let i = 0; i < 100; i++) jobs.push(await begin({ filter }));
  const refusal = await post({ filter });
  assert.deepEqual([refusal.status, codeOf(refusal)], [409, "redelivery_limit"]);
  await set(jobs[0]?.id ?? "", "cancelled");
  await begin({ filter });
  const { body } = await ask({ url: "redeliveries?limit=3" });
  const page = body as Page<RedeliveryView>;
  assert.equal(page.items.length, 3);
  assert.ok(page.next_cursor);
  await runAll();
});
