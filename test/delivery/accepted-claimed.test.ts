import assert from "node:assert/strict";
import { test } from "node:test";
import { acceptAll, type Lend } from "../../src/actions/accept.ts";
import type { Claim } from "../../src/actions/claims.ts";
import { sendTestEvent } from "../../src/actions/events.ts";
import { deleteSubscription } from "../../src/actions/subscriptions.ts";
import { randomId } from "../../src/domain/ids.ts";
import type { PartnerError } from "../../src/domain/errors.ts";
import { listDeliveries } from "../../src/postgres/deliveries.ts";
import { createDatabase } from "../support/database.ts";
import {
  acknowledged,
  anOrganization,
  aSubscription,
  attemptAll,
  createEngine,
} from "../support/engine.ts";

const db = await createDatabase();

/** A process that has a hand to spare for what it accepts, or none. */
async function anEngine({ spare = true } = {}) {
  const begun: Claim[] = [];
  const nudged: string[] = [];
  const lookedUp: string[] = [];
  const lend: Lend = (ids) => ({
    lent: ids.map(() => spare),
    settle: (claims) => begun.push(...claims),
  });
  const engine = await createEngine(db, {
    lend,
    nudge: (ids) => nudged.push(...ids),
    lookAhead: (url) => lookedUp.push(url),
  });
  const organization = await anOrganization(engine.deps);
  const subscription = await aSubscription(engine.deps, organization);
  const send = () => sendTestEvent(engine.deps, organization, subscription);
  return { ...engine, organization, subscription, begun, nudged, lookedUp, send };
}

async function deliveriesFor(subscriptionId: string) {
  const rows = await listDeliveries(db, { subscriptionId }, { after: null, limit: 10 });
  return rows.map(({ state, attempts }) => ({ state, attempts }));
}

test("a delivery that a hand is lent to is nobody else's to claim, and is recorded like any other", async () => {
  const { deps, subscription, begun, nudged, claim, send } = await anEngine();
  const eventId = await send();
  assert.deepEqual(await claim(), []);
  assert.deepEqual(nudged, [], "nobody has to look for it");
  assert.deepEqual(
    begun.map(({ event_id, url, signingSecret }) => ({ event_id, url, signingSecret })),
    [{ event_id: eventId, url: subscription.url, signingSecret: subscription.secret }],
  );

  await attemptAll(deps, begun, () => acknowledged);
  assert.deepEqual(await deliveriesFor(subscription.id), [{ state: "delivered", attempts: 1 }]);
});

test("without a hand to spare the delivery waits for a claim, and the dispatcher is told", async () => {
  const { subscription, begun, nudged, claim, send } = await anEngine({ spare: false });
  const eventId = await send();
  assert.deepEqual([begun, nudged], [[], [subscription.id]]);
  const claims = await claim();
  assert.deepEqual(
    claims.map((one) => one.event_id),
    [eventId],
  );
});

test("its host is looked up while it is being written, at the first call and at later ones", async () => {
  const { subscription, lookedUp, send } = await anEngine();
  await send();
  await send();
  assert.deepEqual(lookedUp, [subscription.url, subscription.url]);

  const withoutHands = await anEngine({ spare: false });
  await withoutHands.send();
  assert.deepEqual(withoutHands.lookedUp, []);
});

test("when the process that accepted it dies, another delivers it after the lease, byte for byte the same", async () => {
  const { deps, begun, claim, clock, send } = await anEngine();
  await send();
  clock.advance(29_999);
  assert.deepEqual(await claim(), []);
  clock.advance(1);
  const [again] = await claim();
  assert.ok(again && begun[0]);
  const lease = { lost_leases: 0, lease_id: "", leased_until: null };
  assert.deepEqual({ ...again, ...lease }, { ...begun[0], ...lease });
  assert.equal(again.lost_leases, 1);
  assert.equal(again.leased_until.getTime() - begun[0].leased_until.getTime(), 30_000);

  const begunInTime = { ...begun[0], leased_until: again.leased_until };
  await attemptAll(deps, [begunInTime], () => acknowledged);
  const [row] = await db`select attempts from waiting_deliveries where id = ${again.id}`;
  assert.deepEqual(row?.["attempts"], 0, "who slept past the lease records nothing");
});

test("what cannot be written begins nothing, and gives the hand back", async () => {
  const { deps, subscription } = await anEngine();
  const settled: Claim[][] = [];
  const lend: Lend = (ids) => ({
    lent: ids.map(() => true),
    settle: (claims) => settled.push(claims),
  });
  const event = {
    id: randomId(),
    delivery_id: randomId(),
    subscription_id: subscription.id,
    type: "longer than any".repeat(100),
    occurred_at: deps.clock(),
    data: "{}",
    url: subscription.url,
  };
  await assert.rejects(acceptAll({ ...deps, lend }, [event]), { code: "23514" });
  assert.deepEqual(settled, [[]]);
});

test("of a subscription that is not active nothing is begun, and nothing written", async () => {
  const { deps, organization, subscription, begun, send } = await anEngine();
  await send();
  await deleteSubscription(deps, organization, subscription.id);
  await assert.rejects(send(), { code: "not_found" });
  assert.equal(begun.length, 1);
  assert.deepEqual(await deliveriesFor(subscription.id), [{ state: "cancelled", attempts: 0 }]);
});

test("one that was disabled meanwhile gets nothing, and those accepted together with it are begun", async () => {
  const { deps, organization, subscription, begun, send } = await anEngine();
  const other = await aSubscription(deps, organization);
  const sendToOther = () => sendTestEvent(deps, organization, other);
  const proven = [await send(), await sendToOther()];
  await db`update subscriptions set auto_disabled_at = ${deps.clock()} where id = ${subscription.id}`;

  const [refused, accepted] = await Promise.allSettled([send(), sendToOther()]);
  assert.ok(refused.status === "rejected" && accepted.status === "fulfilled");
  assert.equal((refused.reason as PartnerError).code, "subscription_inactive");
  assert.deepEqual(
    begun.map((claim) => claim.event_id),
    [...proven, accepted.value],
  );
});

test("an attempt under way when the subscription is deleted is recorded, and its delivery stays cancelled", async () => {
  const { deps, organization, subscription, begun, send } = await anEngine();
  await send();
  await deleteSubscription(deps, organization, subscription.id);
  await attemptAll(deps, begun, () => acknowledged);
  assert.deepEqual(await deliveriesFor(subscription.id), [{ state: "cancelled", attempts: 1 }]);
});
