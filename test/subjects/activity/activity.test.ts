import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, test } from "node:test";
import type { Problem } from "../../../src/http/problem.ts";
import { writeActivity } from "../../../src/jobs/activity.ts";
import { publicId } from "../../../src/lib/ids.ts";
import { countRecorded, countRequest } from "../../../src/subjects/activity/counted.ts";
import type { ActivityView } from "../../../src/subjects/activity/work.ts";
import { createOrganization } from "../../../src/subjects/organizations/work.ts";
import { column } from "../../support/columns.ts";
import { createDatabase } from "../../support/database.ts";
import {
  acknowledged,
  aSubscription,
  attemptAll,
  claimAll,
  createEngine,
  publish,
  refused,
} from "../../support/engine.ts";
import { startOperatorApi } from "../../support/operator-api.ts";

const db = await createDatabase();
const { deps, clock } = await createEngine(db);
const { ask } = startOperatorApi({ after }, deps);
const start = clock();
const organization = await createOrganization(deps, { slug: "acme" });
const subscription = await aSubscription(deps, organization.id);
const another = await aSubscription(deps, organization.id);
const PASSED = { passed: true, limit: 600, remaining: 1, resetSeconds: 1 };

// Two events in the first minute: of each, one subscription accepts its delivery and the other refuses it.
// Nothing happens in the second minute. In the third the retries are delivered.
await publish(deps, organization.id, 2);
for (let i = 0; i < 2; i++) {
  deps.activity.notePublished(organization.id, [subscription.id, another.id]);
}
for (let i = 0; i < 3; i++) countRequest(deps.activity, organization.id, PASSED);
countRequest(deps.activity, organization.id, { ...PASSED, passed: false });
const attempt = async (isGood: boolean) => {
  const claims = await claimAll(deps);
  const failing = claims.filter((claim) => claim.subscriptionId === subscription.id);
  const rest = claims.filter((claim) => claim.subscriptionId !== subscription.id);
  countRecorded(
    deps.activity,
    await attemptAll(deps, failing, () => (isGood ? acknowledged : refused)),
  );
  countRecorded(deps.activity, await attemptAll(deps, rest, () => acknowledged));
};
await attempt(false);
clock.advance(120_000);
await attempt(true);
await writeActivity(db, deps.activity, randomUUID());

const until = new Date(start.getTime() + 180_000).toISOString();
const span = `since=${start.toISOString()}&until=${until}`;

const NOTHING = {
  published: 0,
  attempts: 0,
  succeeded: 0,
  failed: 0,
  by_reason: {},
  attempt_ms: { p50: null, p99: null },
  end_to_end_ms: { p50: null, p99: null },
};
const AT_ONCE = { p50: 1, p99: 1 };
const at = (minute: number) => new Date(start.getTime() + minute * 60_000).toISOString();

test("a subscription's activity has a point for each step, even without activity", async () => {
  const id = publicId("wh", subscription.id);
  const { body } = await ask({ url: `activity?${span}&subscription=${id}` });
  const { items } = body as { items: ActivityView[] };
  const [, , third] = items;
  const { p50 } = third?.end_to_end_ms ?? {};
  assert.ok(p50 && Math.abs(p50 - 120_000) / 120_000 < 0.08, "the delivery took two minutes");
  assert.deepEqual(items, [
    {
      ...NOTHING,
      at: at(0),
      published: 2,
      attempts: 2,
      failed: 2,
      by_reason: { http_503: 2 },
      attempt_ms: AT_ONCE,
    },
    { ...NOTHING, at: at(1) },
    {
      ...NOTHING,
      at: at(2),
      attempts: 2,
      succeeded: 2,
      attempt_ms: AT_ONCE,
      end_to_end_ms: { p50, p99: p50 },
    },
  ]);
});

test("an organization's activity counts each event once, and its requests", async () => {
  const { body } = await ask({ url: `activity?${span}&organization=acme&step=1h` });
  const [item, ...more] = (body as { items: ActivityView[] }).items;
  const { attempt_ms, end_to_end_ms, ...counts } = item ?? NOTHING;
  assert.deepEqual(more, []);
  assert.deepEqual(counts, {
    at: at(0),
    published: 2,
    attempts: 6,
    succeeded: 4,
    failed: 2,
    by_reason: { http_503: 2 },
    requests: 4,
    rate_limited: 1,
  });
  assert.deepEqual(attempt_ms, AT_ONCE);
  assert.equal(end_to_end_ms.p50, 1);
  assert.ok((end_to_end_ms.p99 ?? 0) > 110_000);
});

test("without a filter the activity is that of the service in the last hour", async () => {
  const { items } = (await ask({ url: "activity" })).body as { items: ActivityView[] };
  assert.equal(items.length, 60);
  assert.deepEqual(
    items.filter(({ attempts }) => attempts > 0).map(({ attempts }) => attempts),
    [4],
    "the third minute has just begun",
  );
  assert.equal(items[0] && "requests" in items[0], false);
});

test("a thousand points are returned, and one more is refused", async () => {
  const many = async (minutes: number) => {
    const since = new Date(start.getTime() - (minutes - 3) * 60_000).toISOString();
    return ask({ url: `activity?since=${since}&until=${until}` });
  };
  const full = await many(1_000);
  assert.equal((full.body as { items: unknown[] }).items.length, 1_000);
  const refusal = await many(1_001);
  assert.equal(refusal.status, 422);
  assert.deepEqual(column((refusal.body as Problem).errors, "pointer"), ["/step"]);
});

test("all faults of the query are named at once, and unknown objects are not found", async () => {
  const wrong = "activity?organization=acme&subscription=wh_1&since=x&until=y&step=2m";
  const { status, body } = await ask({ url: wrong });
  assert.equal(status, 422);
  assert.deepEqual(column((body as Problem).errors, "pointer"), [
    "/step",
    "/until",
    "/since",
    "/subscription",
  ]);
  assert.equal((await ask({ url: "activity?organization=nobody" })).status, 404);
  const nobody = publicId("wh", randomUUID());
  assert.equal((await ask({ url: `activity?subscription=${nobody}` })).status, 404);
  assert.equal((await ask({ url: `activity?${span}&since=${until}&step=1m` })).status, 422);
});
