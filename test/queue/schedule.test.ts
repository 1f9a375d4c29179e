import assert from "node:assert/strict";
import { test } from "node:test";
import type { Post } from "../../src/queue/sender.ts";
import { listDeliveries } from "../../src/subjects/deliveries/search-sql.ts";
import { listAttempts, listFailures } from "../../src/subjects/deliveries/sql.ts";
import { publish as publishEvents } from "../../src/subjects/events/publish.ts";
import { createApiKey, revokeApiKey } from "../../src/subjects/keys/work.ts";
import { findSubscriptions } from "../../src/subjects/subscriptions/sql.ts";
import { deleteSubscription } from "../../src/subjects/subscriptions/work.ts";
import { signatureHeaders } from "../../src/webhook/sign.ts";
import { verify } from "../../src/webhook/verify.ts";
import { column } from "../support/columns.ts";
import { createDatabase } from "../support/database.ts";
import {
  acknowledged,
  anEngineWith,
  anOrganization,
  aSubscription,
  attemptAll,
  createEngine,
  publish,
  refused,
} from "../support/engine.ts";

const db = await createDatabase();
const ALL = { after: null, limit: 200 };

async function health(id: string) {
  const [row] = await findSubscriptions(db, [id]);
  return row && { failures: row.consecutiveFailures, disabledAt: row.autoDisabledAt };
}

async function states(subscriptionId: string): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { state } of await listDeliveries(db, { subscriptionIds: [subscriptionId] }, ALL)) {
    counts[state] = (counts[state] ?? 0) + 1;
  }
  return counts;
}

test("a delivery that always fails is attempted seven times, on the six delays to the millisecond, then dead-lettered", async () => {
  const { clock, deliverDue, id } = await anEngineWith(db, 1);

  const waits = [0, 60_000, 300_000, 1_800_000, 7_200_000, 21_600_000, 86_400_000];
  for (const wait of waits) {
    clock.advance(wait - 1);
    if (wait > 0) assert.equal(await deliverDue(() => refused), 0, `nothing 1 ms before ${wait}`);
    clock.advance(1);
    assert.equal(await deliverDue(() => refused), 1, `one attempt after ${wait} ms`);
  }
  clock.advance(365 * 86_400_000);
  assert.equal(await deliverDue(() => refused), 0);

  assert.deepEqual(await states(id), { dead_lettered: 1 });
  const failures = (await listFailures(db, id, ALL)).toReversed();
  assert.deepEqual(column(failures, "attempt"), [1, 2, 3, 4, 5, 6, 7]);
  assert.deepEqual(
    failures.map((f) => f.nextAttemptAt && f.nextAttemptAt.getTime() - f.attemptedAt.getTime()),
    [60_000, 300_000, 1_800_000, 7_200_000, 21_600_000, 86_400_000, null],
  );
  assert.deepEqual(column(failures, "isDeadLettered"), [...Array<boolean>(6).fill(false), true]);
});

test("the next delay runs from the end of the failed attempt", async () => {
  const { clock, deliverDue, id } = await anEngineWith(db, 1);
  await deliverDue(() => {
    clock.advance(9_000);
    return { kind: "unreachable", reason: "timeout" };
  });

  const [failure] = await listFailures(db, id, ALL);
  assert.equal(failure?.durationMs, 9_000);
  assert.equal(failure.httpStatus, 0);
  assert.equal(failure.reason, "timeout");
  assert.equal(failure.nextAttemptAt?.getTime(), clock().getTime() + 60_000);
});

test("each retry has the same bytes, a fresh timestamp and its number, and passes a receiver's 5-minute window", async () => {
  const { clock, deliverDue, secret } = await anEngineWith(db, 1);

  const posts: Post[] = [];
  for (const wait of [0, 60_000, 300_000, 1_800_000, 7_200_000, 21_600_000, 86_400_000]) {
    clock.advance(wait);
    await deliverDue(async (post) => {
      posts.push(post);
      const now = clock().getTime();
      const headers = signatureHeaders({ ...post, timestampMs: now });
      assert.equal((await verify({ secret, headers, body: post.body, now })).verdict, "valid");
      return refused;
    });
  }
  assert.equal(posts.length, 7);
  assert.equal(new Set(posts.map((p) => Buffer.from(p.body).toString("hex"))).size, 1);
  assert.equal(new Set(posts.map((p) => p.eventId)).size, 1);
  assert.deepEqual(column(posts, "attempt"), [1, 2, 3, 4, 5, 6, 7]);
});

test("the 20th failure in a row (7 + 7 + 6) disables once, and the rest of the queue is never claimed", async () => {
  const { deps, clock, deliverDue, organization, id } = await anEngineWith(db);

  for (const attempts of [7, 7, 5]) {
    await publish(deps, organization);
    for (let i = 0; i < attempts; i++) {
      assert.equal(await deliverDue(() => refused), 1);
      clock.advance(86_400_000);
    }
  }
  assert.deepEqual(await health(id), { failures: 19, disabledAt: null });

  await publish(deps, organization, 3);
  const disabledAt = clock();
  const claims = await deps.db`select id from waiting_deliveries where subscription_id = ${id}`;
  assert.equal(claims.length, 4);
  await deliverDue(() => refused);
  assert.deepEqual(await health(id), { failures: 20, disabledAt });
  assert.equal((await states(id))["waiting"], undefined);

  await publish(deps, organization);
  clock.advance(7 * 86_400_000);
  assert.equal(await deliverDue(() => assert.fail("attempted")), 0);
});

test("of thirty attempts that fail at once the 20th disables once, and the counter stays at 20", async () => {
  const { deps, clock, claim, deliverDue, organization, id } = await anEngineWith(db);
  await publish(deps, organization, 30);

  const claims = await claim();
  await publish(deps, organization, 5);
  assert.equal(claims.length, 30);
  const { disabled } = await attemptAll(deps, claims, () => refused);
  assert.deepEqual(disabled, [id]);
  assert.deepEqual(await health(id), { failures: 20, disabledAt: clock() });
  assert.deepEqual(await states(id), { cancelled: 35 });

  const failures = await listFailures(db, id, ALL);
  assert.equal(failures.length, 30);
  assert.equal(failures.filter((f) => f.nextAttemptAt === null).length, 11);
  clock.advance(86_400_000);
  assert.equal(await deliverDue(() => assert.fail("attempted")), 0);
});

test("a success between failures resets the counter, also inside one batch", async () => {
  const { deps, claim, deliverDue, clock, organization, id } = await anEngineWith(db);
  await publish(deps, organization, 25);
  const claims = await claim();
  let nth = 0;
  await attemptAll(deps, claims, () => (++nth === 15 ? acknowledged : refused));
  assert.deepEqual(await health(id), { failures: 10, disabledAt: null });

  clock.advance(60_000);
  await deliverDue(() => acknowledged);
  assert.deepEqual(await health(id), { failures: 0, disabledAt: null });
});

test("a success resets failures that were counted after its own claim", async () => {
  const { deps, claim, organization, id } = await anEngineWith(db);
  await publish(deps, organization, 2);
  const [first, second] = await claim();
  assert.ok(first && second);
  await attemptAll(deps, [first], () => refused);
  assert.equal((await health(id))?.failures, 1);
  await attemptAll(deps, [second], () => acknowledged);
  assert.equal((await health(id))?.failures, 0);
});

test("deleting a subscription cancels its queue, and its attempt in flight is recorded without other effects", async () => {
  const { deps, clock, claim, deliverDue, organization, id } = await anEngineWith(db);
  await publish(deps, organization, 3);
  const [inFlight] = (await claim()).slice(0, 1);
  assert.ok(inFlight);

  await deleteSubscription(deps, organization, id);
  assert.deepEqual(await states(id), { cancelled: 3 });
  await attemptAll(deps, [inFlight], () => refused);
  await attemptAll(deps, [inFlight], () => refused);

  assert.deepEqual(await states(id), { cancelled: 3 });
  const attempts = await listAttempts(db, inFlight.id);
  assert.equal(attempts.length, 1);
  assert.equal(attempts[0]?.nextAttemptAt, null);
  clock.advance(86_400_000);
  assert.equal(await deliverDue(() => assert.fail("attempted")), 0);
});

test("revoking the key between attempts does not change its deliveries", async () => {
  const { deps, clock, deliverDue } = await createEngine(db);
  const organization = await anOrganization(deps);
  const { keyId } = await createApiKey(deps, { organization: `org_${organization}` });
  const { id } = await aSubscription(deps, organization);
  await publish(deps, organization);
  await deliverDue(() => refused);
  await revokeApiKey(deps, keyId);
  clock.advance(60_000);
  assert.equal(await deliverDue(() => acknowledged), 1);
  assert.deepEqual(await states(id), { delivered: 1 });
});

test("an event reaches each active subscription of its organization that lists its type, under one event id", async () => {
  const { deps, clock, deliverDue } = await createEngine(db);
  const organization = await anOrganization(deps);
  const [one, two, inactive] = [
    await aSubscription(deps, organization),
    await aSubscription(deps, organization),
    await aSubscription(deps, organization),
  ];
  const foreign = await aSubscription(deps);
  await db`update subscriptions set auto_disabled_at = ${clock()} where id = ${inactive.id}`;

  const [eventId] = await publish(deps, organization);
  const bodies: { id: string; subscription_id: string }[] = [];
  await deliverDue(({ body }) => {
    bodies.push(JSON.parse(Buffer.from(body).toString()) as (typeof bodies)[number]);
    return acknowledged;
  });
  assert.deepEqual(column(bodies, "id"), [`evt_${eventId ?? ""}`, `evt_${eventId ?? ""}`]);
  assert.deepEqual(
    bodies.map((b) => b.subscription_id).toSorted(),
    [`wh_${one.id}`, `wh_${two.id}`].toSorted(),
  );
  assert.deepEqual(await states(foreign.id), {});
});

test("a rolled-back transaction publishes no event", async () => {
  const { deps, deliverDue, organization: organizationId } = await anEngineWith(db);
  await assert.rejects(
    db.begin(async (tx) => {
      const event = { organizationId, type: "vc.test.ping", data: "{}" };
      const [published] = await publishEvents(deps, tx, [event]);
      assert.equal(published?.subscriptionIds.length, 1);
      throw new Error("rolled back");
    }),
    /rolled back/,
  );
  assert.equal(await deliverDue(() => assert.fail("attempted")), 0);
});
