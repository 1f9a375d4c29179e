import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, test } from "node:test";
import { writeActivity } from "../../../src/jobs/activity.ts";
import { publicId } from "../../../src/lib/ids.ts";
import { countRecorded } from "../../../src/subjects/activity/counted.ts";
import type { HealthView } from "../../../src/subjects/activity/health.ts";
import { createOrganization } from "../../../src/subjects/organizations/work.ts";
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
const organization = await createOrganization(deps, { slug: "acme" });
const subscription = await aSubscription(deps, organization.id);

const processId = randomUUID();
/** In the order of publication: a claim has none of its own. */
const attempt = async (answers: (typeof acknowledged)[]) => {
  const claims = (await claimAll(deps)).toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const recorded = await attemptAll(deps, claims, () => {
    clock.advance(100);
    return answers.shift() ?? acknowledged;
  });
  countRecorded(deps.activity, recorded);
  await writeActivity(db, deps.activity, processId);
};

// The first is delivered, the second fails and is delivered at its retry. Two more wait, for a retry and for
// a first attempt.
await publish(deps, organization.id, 2);
const first = clock();
await attempt([acknowledged, refused]);
clock.advance(60_000);
const retriedAt = clock();
await attempt([acknowledged]);
await publish(deps, organization.id);
const failedAt = clock();
await attempt([refused]);
const failedUntil = clock();
await publish(deps, organization.id);
const idle = await aSubscription(deps, organization.id);

const ms = (date: Date, by: number) => new Date(date.getTime() + by).toISOString();
const success = { http_status: 200, reason: null, duration_ms: 100 };
const failure = { http_status: 503, reason: "http_503", duration_ms: 100 };
const RECENT = [
  { at: ms(first, 0), ...success },
  { at: ms(first, 100), ...failure },
  { at: retriedAt.toISOString(), ...success },
  { at: failedAt.toISOString(), ...failure },
];

function requireHealth(health: HealthView): void {
  const { attempt_ms, ...others } = health;
  for (const measured of [attempt_ms.p50, attempt_ms.p99]) {
    assert.ok(measured !== null && Math.abs(measured - 100) <= 8, String(measured));
  }
  assert.deepEqual(others, {
    success_share: 0.5,
    recent: RECENT,
    waiting: { due: 1, scheduled: 1, held: 0, estimated: false },
    next_due_at: failedUntil.toISOString(),
  });
}

test("a subscription is shown with its health and all members of the list", async () => {
  const { items } = (await ask({ url: "subscriptions" })).body as { items: { id: string }[] };
  const id = publicId("wh", subscription.id);
  const { status, body } = await ask({ url: `subscriptions/${id}` });
  const { health, ...listed } = body as { health: HealthView };
  assert.equal(status, 200);
  assert.deepEqual(
    listed,
    items.find((item) => item.id === id),
  );
  requireHealth(health);
});

test("an organization is shown by its slug and by its id, with the combined health of its subscriptions", async () => {
  const { items } = (await ask({ url: "organizations" })).body as { items: object[] };
  const { body } = await ask({ url: "organizations/acme" });
  const { health, subscriptions, ...listed } = body as {
    health: HealthView;
    subscriptions: number;
  };
  assert.deepEqual([listed], items);
  assert.equal(subscriptions, 2);
  requireHealth(health);
  const byId = await ask({ url: `organizations/${publicId("org", organization.id)}` });
  assert.deepEqual(byId.body, body);
});

test("without attempts the health figures are null", async () => {
  const { body } = await ask({ url: `subscriptions/${publicId("wh", idle.id)}` });
  assert.deepEqual((body as { health: HealthView }).health, {
    success_share: null,
    attempt_ms: { p50: null, p99: null },
    recent: [],
    waiting: { due: 0, scheduled: 0, held: 0, estimated: false },
    next_due_at: null,
  });
});

test("at most the last 100 attempts are shown, oldest first", async () => {
  const busy = await aSubscription(deps);
  await publish(deps, busy.organizationId, 130);
  await attempt([]);
  const { body } = await ask({ url: `subscriptions/${publicId("wh", busy.id)}` });
  const { recent } = (body as { health: HealthView }).health;
  assert.equal(recent.length, 100);
  const last = clock().getTime() - 100;
  assert.equal(recent.at(-1)?.at, new Date(last).toISOString());
  assert.equal(recent[0]?.at, new Date(last - 99 * 100).toISOString());
});

test("a subscription or an organization that does not exist is not found", async () => {
  for (const url of [
    "organizations/nobody",
    `subscriptions/wh_${randomUUID()}`,
    "subscriptions/x",
  ]) {
    assert.equal((await ask({ url })).status, 404, url);
  }
});
