import assert from "node:assert/strict";
import { after, test } from "node:test";
import { publicId } from "../../src/lib/ids.ts";
import type { Page } from "../../src/lib/page.ts";
import type { DueSubscription } from "../../src/queue/rules.ts";
import type { Overview } from "../../src/subjects/activity/overview.ts";
import { listDueSubscriptions } from "../../src/subjects/deliveries/claims-sql.ts";
import { claimDeliveries } from "../../src/subjects/deliveries/claims.ts";
import { countBacklog, findNextDueOf } from "../../src/subjects/deliveries/sql.ts";
import type { DeliveryDetail, DeliveryView } from "../../src/subjects/deliveries/work.ts";
import { publishAtOnce } from "../../src/subjects/events/publish.ts";
import {
  changeSubscription,
  deleteSubscription,
  listSubscriptions,
  type OperatedSubscriptionView,
  viewSubscription,
} from "../../src/subjects/subscriptions/work.ts";
import { createDatabase } from "../support/database.ts";
import {
  acknowledged,
  aSubscription,
  attemptAll,
  claimAll,
  createEngine,
  publish,
  refused,
} from "../support/engine.ts";
import { startOperatorApi } from "../support/operator-api.ts";
import { untilBlocked } from "../support/until-blocked.ts";

const DAY_MS = 86_400_000;
const nudged: DueSubscription[] = [];
const db = await createDatabase({ max: 6 });
const { deps, clock, claim, deliverDue } = await createEngine(db, {
  nudge: (due) => nudged.push(...due),
});
const { ask, subjectsOf } = startOperatorApi({ after }, deps);

async function aSubscriptionWith(events: number) {
  await db`delete from waiting_deliveries`;
  await db`delete from subscription_ceilings`;
  const made = await aSubscription(deps);
  await publish(deps, made.organizationId, events);
  return { ...made, url: `subscriptions/${publicId("wh", made.id)}` };
}

const hold = (id: string, held = true) => changeSubscription(deps, id, { held });
const wantedOf = (subscriptionId: string) => ({
  quotas: [{ subscriptionId, quota: 16 }],
  limit: 16,
});
const scan = async () =>
  (await listDueSubscriptions(db, { now: clock(), after: null, limit: 100 })).due.map(
    ({ subscriptionId }) => subscriptionId,
  );

test("nothing of a held subscription is claimed, and a release gives all of it back", async () => {
  const { id, organizationId } = await aSubscriptionWith(5);
  assert.deepEqual(await scan(), [id]);
  await hold(id);
  assert.deepEqual(await scan(), [], "a scan leaves it out");
  const { claims, throttled } = await claimDeliveries(deps, wantedOf(id));
  assert.deepEqual(claims, [], "a claim for a nudge takes nothing");
  assert.deepEqual(throttled, [{ subscriptionId: id, forMs: 1_000 }]);

  nudged.length = 0;
  await hold(id, false);
  assert.deepEqual(nudged, [{ subscriptionId: id, organizationId }]);
  assert.equal(await deliverDue(() => acknowledged), 5);
});

test("other subscriptions are served while one is held", async () => {
  const held = await aSubscriptionWith(3);
  await hold(held.id);
  const other = await aSubscription(deps);
  await publish(deps, other.organizationId, 3);
  assert.deepEqual(await scan(), [other.id]);
  assert.equal(await deliverDue(() => acknowledged), 3);
});

test("an attempt in flight ends as usual, and its retry waits", async () => {
  const { id } = await aSubscriptionWith(2);
  const claims = await claim();
  await hold(id);
  const [first, second] = claims;
  assert.ok(first && second);
  const outcomes = new Map([
    [first.eventId, acknowledged],
    [second.eventId, refused],
  ]);
  await attemptAll(deps, claims, ({ eventId }) => outcomes.get(eventId.slice(4)) ?? refused);
  const states = await db<
    { state: string }[]
  >`select state from finished where subscription_id = ${id}`;
  assert.deepEqual(
    states.map(({ state }) => state),
    ["delivered"],
  );
  clock.advance(DAY_MS);
  assert.deepEqual(await claim(), []);
  await hold(id, false);
  assert.equal(await deliverDue(() => acknowledged), 1);
});

test("held deliveries are published without a lease, and none is lost or counted as a failure", async () => {
  const { id, organizationId } = await aSubscriptionWith(0);
  await hold(id);
  const begun: unknown[] = [];
  const end = (claims: unknown[]) => void begun.push(...claims);
  const reserve = () => ({ slots: 64, except: [], end });
  await publishAtOnce({ ...deps, reserve }, [{ organizationId, type: "vc.test.ping", data: "{}" }]);
  assert.deepEqual(begun, []);
  clock.advance(3 * DAY_MS);
  assert.deepEqual(await claim(), []);

  const [seen] = await listSubscriptions(deps, organizationId);
  assert.ok(seen);
  assert.deepEqual(viewSubscription(seen), {
    ...viewSubscription(seen),
    active: true,
    auto_disabled_at: null,
    consecutive_failures: 0,
  });
  assert.ok(!("held_at" in viewSubscription(seen)), "partners do not see it");
  await hold(id, false);
  assert.equal(await deliverDue(() => acknowledged), 1);
});

test("a release goes on at the ceiling, and a hold keeps one", async () => {
  const { id, url } = await aSubscriptionWith(40);
  const patch = async (body: object) =>
    (await ask({ method: "PATCH", url, body })).body as OperatedSubscriptionView;
  await patch({ max_per_second: 100 });
  const held = await patch({ held: true });
  assert.deepEqual([held.max_per_second, held.held_at], [100, clock().toISOString()]);
  assert.deepEqual((await claimDeliveries(deps, wantedOf(id))).claims, []);
  assert.equal((await patch({ max_per_second: null })).held_at, held.held_at);
  assert.deepEqual(await claim(), [], "without a ceiling it stays held");

  const released = await patch({ held: false, max_per_second: 20 });
  assert.deepEqual([released.max_per_second, released.held_at], [20, null]);
  assert.equal((await claim()).length, 2, "a tenth of a second's");
  assert.deepEqual(subjectsOf("hold_subscription"), [held.id]);
  assert.deepEqual(subjectsOf("release_subscription"), [held.id]);
  assert.equal((await patch({ max_per_second: null })).max_per_second, null);
  const rows = await db`select from subscription_ceilings where subscription_id = ${id}`;
  assert.equal(rows.length, 0, "nothing is left");
});

test("a second hold keeps the time of the first, and a release of what is not held changes nothing", async () => {
  const { id } = await aSubscriptionWith(0);
  const { heldAt } = await hold(id);
  clock.advance(1_000);
  assert.deepEqual((await hold(id)).heldAt, heldAt);
  assert.equal((await hold(id, false)).heldAt, null);
  assert.equal((await hold(id, false)).heldAt, null);
});

test("a claim that waits for a hold takes nothing", async () => {
  const { id } = await aSubscriptionWith(3);
  await changeSubscription(deps, id, { maxPerSecond: 100 });
  let claiming: ReturnType<typeof claimDeliveries> | undefined;
  await db.begin(async (tx) => {
    await tx`update subscription_ceilings set held_at = ${clock()} where subscription_id = ${id}`;
    claiming = claimDeliveries(deps, wantedOf(id));
    await untilBlocked(db, "%bucket%");
  });
  assert.deepEqual((await claiming)?.claims, []);
});

test("ten changes at once leave one of them", async () => {
  for (let round = 0; round < 10; round++) {
    const { id } = await aSubscriptionWith(1);
    const changes = [
      ...[{ held: true }, { maxPerSecond: 5 }, { maxPerSecond: null }, { held: false }],
      ...[
        { held: true, maxPerSecond: 7 },
        { held: false, maxPerSecond: null },
      ],
    ];
    await Promise.all(changes.map((change) => changeSubscription(deps, id, change)));
    const { heldAt } = await changeSubscription(deps, id, { maxPerSecond: 3 });
    assert.equal((await claimAll(deps)).length, heldAt === null ? 1 : 0);
    await changeSubscription(deps, id, { held: false });
  }
});

test("an ended subscription cannot be held, and an unknown one is 404", async () => {
  const { id, url, organizationId } = await aSubscriptionWith(0);
  const patch = async (body: unknown) => {
    const answer = await ask({ method: "PATCH", url, body });
    return [answer.status, (answer.body as { code: string }).code];
  };
  assert.deepEqual(await patch({ held: "yes" }), [422, "invalid_request"]);
  assert.deepEqual(await patch({ held: null }), [422, "invalid_request"]);
  assert.deepEqual(await patch({}), [422, "invalid_request"]);
  await db`update subscriptions set auto_disabled_at = ${clock()} where id = ${id}`;
  assert.deepEqual(await patch({ held: true }), [409, "subscription_inactive"]);
  assert.deepEqual((await ask({ method: "PATCH", url, body: { held: false } })).status, 200);
  await deleteSubscription(deps, organizationId, id);
  assert.deepEqual(await patch({ held: true }), [404, "not_found"]);
});

test("a failure that disables a held subscription cancels its queue, and a deletion too", async () => {
  const { id } = await aSubscriptionWith(21);
  const claims = await claim();
  await hold(id);
  await attemptAll(deps, claims, () => refused);
  await deps.cancelling.restCancelled();
  const [{ waiting }] = await db<[{ waiting: number }]>`
    select count(*)::int as waiting from waiting_deliveries where subscription_id = ${id}`;
  assert.equal(waiting, 0);

  const other = await aSubscriptionWith(2);
  await hold(other.id);
  await deleteSubscription(deps, null, other.id);
  assert.equal((await db`select from waiting_deliveries`).length, 0);
});

test("attempt now refuses a held subscription's delivery", async () => {
  const { id } = await aSubscriptionWith(1);
  await hold(id);
  const [row] = await db<{ id: string }[]>`select id from waiting_deliveries`;
  const url = `deliveries/${publicId("dlv", row?.id ?? "")}/attempt`;
  const { status, body } = await ask({ method: "POST", url });
  assert.deepEqual([status, (body as { code: string }).code], [409, "subscription_held"]);
});

test("lists and pages say since when it is held", async () => {
  const { id, organizationId, url } = await aSubscriptionWith(1);
  await hold(id);
  const at = clock().toISOString();
  const organization = publicId("org", organizationId);
  const { items } = (await ask({ url: `subscriptions?organization=${organization}` }))
    .body as Page<OperatedSubscriptionView>;
  assert.equal(items[0]?.held_at, at);
  const detail = (await ask({ url })).body as {
    held_at: string;
    release_by: string;
    health: { waiting: object; next_due_at: string | null };
  };
  assert.equal(detail.held_at, at);
  assert.deepEqual(detail.health.waiting, { due: 0, scheduled: 0, held: 1, estimated: false });
  assert.equal(detail.health.next_due_at, null);

  const found = (await ask({ url: `deliveries?organization=${organization}` }))
    .body as Page<DeliveryView>;
  assert.equal(found.items[0]?.held_at, at);
  const shown = (await ask({ url: `deliveries/${found.items[0].id}` })).body as DeliveryDetail;
  assert.deepEqual([shown.held_at, shown.subscription.held_at], [at, at]);
});

test("held deliveries are no lag, and are counted apart", async () => {
  const held = await aSubscriptionWith(3);
  await hold(held.id);
  const other = await aSubscription(deps);
  clock.advance(120_000);
  await publish(deps, other.organizationId, 2);
  const due = clock();
  clock.advance(1_000);
  const counts = { due: 2, scheduled: 0, held: 3, estimated: false };
  assert.deepEqual(await countBacklog(db, null, clock()), counts);
  assert.deepEqual(await findNextDueOf(db, null, clock()), due);
  const organization = { kind: "organization", id: held.organizationId } as const;
  assert.deepEqual(await countBacklog(db, organization, clock()), { ...counts, due: 0 });
  assert.equal(await findNextDueOf(db, organization, clock()), null);
  await hold(held.id, false);
  assert.notDeepEqual(await findNextDueOf(db, null, clock()), due);
});

test("the overview names what is held, and says before RETENTION that it is held too long", async () => {
  const { id } = await aSubscriptionWith(1);
  await hold(id);
  const heldAt = clock().getTime();
  const retriesMs = deps.rules.retryDelaysMs.reduce((sum, ms) => sum + ms, 0);
  const keptMs = deps.retentionMs - retriesMs;
  const overview = async () => {
    const reader = startOperatorApi({ after }, deps); // Another one keeps its reading for a second.
    return (await reader.ask({ url: "overview" })).body as Overview;
  };
  const first = await overview();
  assert.deepEqual(
    first.held.map((one) => [one.id, one.held_at, one.release_by]),
    [[publicId("wh", id), new Date(heldAt).toISOString(), new Date(heldAt + keptMs).toISOString()]],
  );
  assert.equal(first.now.waiting.held, 1);
  const codes = ({ problems }: Overview) => problems.map(({ code }) => code);
  assert.ok(!codes(first).includes("held"));

  clock.advance(0.75 * keptMs);
  const { problems } = await overview();
  const problem = problems.find(({ code }) => code === "held");
  assert.match(problem?.detail ?? "", /is held: release it by \d{4}-.*RETENTION/);
  assert.ok(!codes(await overview()).includes("lag"), "what is held is no lag");
});
