import assert from "node:assert/strict";
import { test } from "node:test";
import { publicId } from "../../../src/lib/ids.ts";
import { countRecorded, countRequest } from "../../../src/subjects/activity/counted.ts";
import type { Overview } from "../../../src/subjects/activity/overview.ts";
import { MINUTE_MS } from "../../../src/subjects/activity/rules.ts";
import { allowanceAt } from "../../../src/subjects/keys/rules.ts";
import { createOrganization } from "../../../src/subjects/organizations/work.ts";
import { recordProcess } from "../../../src/subjects/processes/sql.ts";
import { aCountedEngine, identity, REPORT } from "../../support/counted-engine.ts";
import { createDatabase } from "../../support/database.ts";
import {
  acknowledged,
  aSubscription,
  attemptAll,
  claimAll,
  publish,
  refused,
} from "../../support/engine.ts";
import { startOperatorApi } from "../../support/operator-api.ts";

const db = await createDatabase();

test("a healthy overview has every number", async (t) => {
  const { deps, clock, attempt } = await aCountedEngine(db);
  const { id: organization } = await createOrganization(deps, { slug: "acme" });
  const good = await aSubscription(deps, organization, "https://good.example/hooks");
  const bad = await aSubscription(deps, organization, "https://bad.example/hooks?key=1");
  await publish(deps, organization, 2);
  deps.activity.notePublished(organization, [good.id, bad.id]);
  const startedAt = clock();
  clock.advance(10_000);
  await attempt(({ url }) => {
    clock.advance(100);
    return url.includes("bad.example") ? refused : acknowledged;
  });
  await recordProcess(
    db,
    { ...identity, startedAt },
    {
      ...REPORT,
      attemptsUnderWay: 3,
      slots: 512,
      lastRecordedAt: clock(),
      organizations: [{ id: organization, slots: 2 }],
      slowed: [{ id: bad.id, limit: 1 }],
    },
    clock(),
  );

  const { ask } = startOperatorApi(t, deps);
  const overview = (await ask({ url: "overview" })).body as Overview;
  const ranked = {
    organization: { id: publicId("org", organization), slug: "acme" },
    active: true,
    attempts: 2,
    attempt_ms: { p50: 100, p99: 100 },
  };
  const near = (ms: number | null) => (ms !== null && Math.abs(ms - 100) <= 8 ? 100 : ms);
  for (const one of [...overview.failing, ...overview.slowest, overview.now]) {
    one.attempt_ms = { p50: near(one.attempt_ms.p50), p99: near(one.attempt_ms.p99) };
  }
  const failing = {
    ...ranked,
    id: publicId("wh", bad.id),
    url: bad.url,
    host: "bad.example",
    consecutive_failures: 2,
    failed: 2,
    success_share: 0,
  };
  const succeeding = {
    ...ranked,
    id: publicId("wh", good.id),
    url: good.url,
    host: "good.example",
    consecutive_failures: 0,
    failed: 0,
    success_share: 1,
  };
  const { slowest, ...others } = overview;
  assert.deepEqual(new Set(slowest.map(({ id }) => id)), new Set([failing.id, succeeding.id]));
  assert.deepEqual(
    slowest.find(({ id }) => id === succeeding.id),
    succeeding,
  );
  assert.deepEqual(others, {
    status: "ok",
    problems: [],
    now: {
      deliveries_per_second: 0, // Two of them in 70 s.
      success_share: 0.5,
      attempt_ms: { p50: 100, p99: 100 },
      waiting: { due: 0, scheduled: 2, held: 0, estimated: false },
      oldest_due_seconds: 0,
      attempts_under_way: 3,
    },
    last_24h: { published: 1, delivered: 2, dead_lettered: 0, cancelled: 0, disabled: 0 },
    failing: [failing],
    near_limit: [],
    held: [],
    processes: [
      {
        id: publicId("prc", identity.id),
        role: "all",
        version: "1.0.0",
        host: "one",
        pid: 1,
        started_at: startedAt.toISOString(),
        last_seen_at: clock().toISOString(),
        state: "running",
        attempts_under_way: 3,
        slots: 512,
        last_recorded_at: clock().toISOString(),
        organizations: [{ slug: "acme", slots: 2 }],
        slowed: [{ subscription: publicId("wh", bad.id), limit: 1 }],
      },
    ],
    bridges: [],
  });
  assert.deepEqual((await ask({ url: "processes" })).body, { items: overview.processes });
});

test("failures, dead letters, cancelled deliveries and disabled subscriptions of the day are counted", async (t) => {
  const { deps, attempt, clock } = await aCountedEngine(db, {
    rules: { retryDelaysMs: [0], autoDisableAfter: 3, maxSubscriptions: 10, leaseMs: 30_000 },
  });
  const { organizationId, id } = await aSubscription(deps);
  await publish(deps, organizationId);
  await attempt(() => refused);
  await attempt(() => refused);
  await publish(deps, organizationId);
  await attempt(() => refused);
  const { ask } = startOperatorApi(t, deps);
  const { last_24h } = (await ask({ url: "overview" })).body as Overview;
  assert.deepEqual(last_24h, {
    published: 0,
    delivered: 0,
    dead_lettered: 1,
    cancelled: 1,
    disabled: 1,
  });
  clock.advance(86_400_000);
  const query = `organization=${publicId("org", organizationId)}&step=1d&since=${clock().toISOString()}`;
  assert.equal((await ask({ url: `activity?${query}` })).status, 200);
  assert.equal((await ask({ url: `subscriptions/${publicId("wh", id)}` })).status, 200);
});

test("deliveries that the erasure of a payload cancels are counted", async (t) => {
  const { deps, attempt } = await aCountedEngine(db);
  const { organizationId } = await aSubscription(deps);
  const [event = ""] = await publish(deps, organizationId);
  const { ask } = startOperatorApi(t, deps);
  const url = `events/${publicId("evt", event)}/payload`;
  assert.equal((await ask({ method: "DELETE", url })).status, 204);
  assert.equal((await ask({ method: "DELETE", url })).status, 204);
  await attempt(() => acknowledged);
  const { last_24h } = (await ask({ url: "overview" })).body as Overview;
  assert.deepEqual([last_24h.cancelled, last_24h.delivered], [1, 0]);
});

test("a success after its delivery was cancelled counts as delivered alone", async (t) => {
  const { deps, attempt, clock } = await aCountedEngine(db);
  clock.advance(MINUTE_MS - (clock().getTime() % MINUTE_MS) - 1_000); // The success is counted in the next minute.
  const { organizationId } = await aSubscription(deps);
  const [event = ""] = await publish(deps, organizationId);
  const claims = await claimAll(deps);
  const counts = async () => {
    await attempt(() => acknowledged); // Writes what was counted.
    const { ask } = startOperatorApi(t, deps); // Another one still shows its earlier counts.
    const { last_24h } = (await ask({ url: "overview" })).body as Overview;
    return [last_24h.cancelled, last_24h.delivered];
  };
  await startOperatorApi(t, deps).ask({
    method: "DELETE",
    url: `events/${publicId("evt", event)}/payload`,
  });
  assert.deepEqual(await counts(), [1, 0]);
  clock.advance(2_000);
  countRecorded(deps.activity, await attemptAll(deps, claims, () => acknowledged));
  clock.advance(120_000);
  assert.deepEqual(await counts(), [0, 1]);
});

test("organizations that came near their limit are in the overview, the nearest first", async (t) => {
  const { deps, clock, attempt } = await aCountedEngine(db);
  const near = async (slug: string, requests: number) => {
    const made = await createOrganization(deps, { slug, rateLimitPerMinute: 10 });
    for (let place = 1; place <= requests; place++) {
      countRequest(deps.activity, made.id, allowanceAt(place, 10, clock(), clock()));
    }
    return { id: publicId("org", made.id), slug };
  };
  await near("below-half", 4);
  const half = await near("at-half", 5);
  const over = await near("above-limit", 12);
  await attempt(() => acknowledged);

  const { ask } = startOperatorApi(t, deps);
  const { near_limit } = (await ask({ url: "overview" })).body as Overview;
  const limit = { rate_limit_per_minute: 10 };
  assert.deepEqual(near_limit, [
    { organization: over, ...limit, busiest_minute: 10, rate_limited: 2 },
    { organization: half, ...limit, busiest_minute: 5, rate_limited: 0 },
  ]);

  clock.advance(3_660_000);
  const later = startOperatorApi(t, deps);
  assert.deepEqual(((await later.ask({ url: "overview" })).body as Overview).near_limit, []);
});
