import assert from "node:assert/strict";
import { test } from "node:test";
import type { PartnerError } from "../../src/lib/errors.ts";
import type { Claim } from "../../src/subjects/deliveries/rules.ts";
import { listDeliveries } from "../../src/subjects/deliveries/search-sql.ts";
import { publishAtOnce } from "../../src/subjects/events/publish.ts";
import { sendTestEvent } from "../../src/subjects/events/work.ts";
import { deleteSubscription } from "../../src/subjects/subscriptions/work.ts";
import { column } from "../support/columns.ts";
import { createDatabase } from "../support/database.ts";
import {
  acknowledged,
  anOrganization,
  aSubscription,
  attemptAll,
  createEngine,
} from "../support/engine.ts";

const db = await createDatabase();

/** A process with these spare slots. */
async function anEngine({ slots = 16, except = [] }: { slots?: number; except?: string[] } = {}) {
  const begun: Claim[] = [];
  const nudged: string[] = [];
  const engine = await createEngine(db, {
    reserve: () => ({ slots, except, end: (claims) => void begun.push(...claims) }),
    nudge: (due) => nudged.push(...due.map((d) => d.subscriptionId)),
  });
  const organization = await anOrganization(engine.deps);
  const subscription = await aSubscription(engine.deps, organization);
  const send = () => sendTestEvent(engine.deps, organization, subscription);
  return { ...engine, organization, subscription, begun, nudged, send };
}

async function deliveriesFor(subscriptionId: string) {
  const rows = await listDeliveries(
    db,
    { subscriptionIds: [subscriptionId] },
    { after: null, limit: 10 },
  );
  return rows.map(({ state, attempts }) => ({ state, attempts }));
}

test("a delivery that is published with its lease cannot be claimed, and is recorded like any other", async () => {
  const { deps, subscription, begun, nudged, claim, send } = await anEngine();
  const eventId = await send();
  assert.deepEqual(await claim(), []);
  assert.deepEqual(nudged, [], "nothing scans for it");
  assert.deepEqual(
    begun.map(({ eventId, url, signingSecret }) => ({ eventId, url, signingSecret })),
    [{ eventId, url: subscription.url, signingSecret: subscription.secret }],
  );

  await attemptAll(deps, begun, () => acknowledged);
  assert.deepEqual(await deliveriesFor(subscription.id), [{ state: "delivered", attempts: 1 }]);
});

test("without a spare slot the delivery waits for a claim, and the dispatcher is nudged", async () => {
  const { subscription, begun, nudged, claim, send } = await anEngine({ slots: 0 });
  const eventId = await send();
  assert.deepEqual([begun, nudged], [[], [subscription.id]]);
  const claims = await claim();
  assert.deepEqual(column(claims, "eventId"), [eventId]);
});

test("an event for many subscriptions takes all spare slots, and its other deliveries wait", async () => {
  const { deps, organization, subscription, begun, nudged } = await anEngine({ slots: 2 });
  const others = [await aSubscription(deps, organization), await aSubscription(deps, organization)];
  const all = [subscription, ...others].map(({ id }) => id);
  const event = { organizationId: organization, type: "vc.test.ping", data: "{}" };

  const [published] = await publishAtOnce(deps, [event]);
  assert.deepEqual(published?.subscriptionIds.toSorted(), all.toSorted());
  const early = begun.map((claim) => claim.subscriptionId);
  assert.deepEqual([early.length, [...early, ...nudged].sort()], [2, all.toSorted()]);
});

test("a subscription gets one slot for events that are published together, and an excepted one gets none", async () => {
  const one = await anEngine();
  const event = { organizationId: one.organization, type: "vc.test.ping", data: "{}" };
  await publishAtOnce(one.deps, [event, event]);
  assert.deepEqual([one.begun.length, one.nudged], [1, [one.subscription.id]]);

  for (const excepted of [one.subscription.id, one.organization]) {
    const reserve = () => ({
      slots: 1,
      except: [excepted],
      end: assert.deepEqual.bind(null, []),
    });
    await publishAtOnce({ ...one.deps, reserve }, [event]);
  }
});

test("if the publishing process dies, another one delivers the same bytes after the lease", async () => {
  const { deps, begun, claim, clock, send } = await anEngine();
  await send();
  clock.advance(29_999);
  assert.deepEqual(await claim(), []);
  clock.advance(1);
  const [again] = await claim();
  assert.ok(again && begun[0]);
  const lease = { lostLeases: 0, leaseId: "", leasedUntil: null };
  assert.deepEqual({ ...again, ...lease }, { ...begun[0], ...lease });
  assert.equal(again.lostLeases, 1);
  assert.equal(again.leasedUntil.getTime() - begun[0].leasedUntil.getTime(), 30_000);

  const begunInTime = { ...begun[0], leasedUntil: again.leasedUntil };
  await attemptAll(deps, [begunInTime], () => acknowledged);
  const [row] = await db`select attempts from waiting_deliveries where id = ${again.id}`;
  assert.deepEqual(row?.["attempts"], 0, "a process that slept past the lease records nothing");
});

test("if publishing fails, nothing is attempted and the slots are returned", async () => {
  const { deps, organization, begun } = await anEngine();
  const ends: Claim[][] = [];
  const reserve = () => ({
    slots: 1,
    except: [],
    end: (claims: Claim[]) => void ends.push(claims),
  });
  const type = "longer than any".repeat(100);
  const event = { organizationId: organization, type, data: "{}" };
  await assert.rejects(publishAtOnce({ ...deps, reserve }, [event]), { code: "23514" });
  assert.deepEqual([ends, begun], [[[]], []]);
});

test("an event for an inactive subscription is neither attempted nor written", async () => {
  const { deps, organization, subscription, begun, send } = await anEngine();
  await send();
  await deleteSubscription(deps, organization, subscription.id);
  await assert.rejects(send(), { code: "not_found" });
  assert.equal(begun.length, 1);
  assert.deepEqual(await deliveriesFor(subscription.id), [{ state: "cancelled", attempts: 0 }]);
});

test("a subscription that is disabled meanwhile gets nothing, and the others of the batch get their attempts", async () => {
  const { deps, organization, subscription, begun, send } = await anEngine();
  const other = await aSubscription(deps, organization);
  const sendToOther = () => sendTestEvent(deps, organization, other);
  const proven = [await send(), await sendToOther()];
  await db`update subscriptions set auto_disabled_at = ${deps.clock()} where id = ${subscription.id}`;

  const [refused, accepted] = await Promise.allSettled([send(), sendToOther()]);
  assert.ok(refused.status === "rejected" && accepted.status === "fulfilled");
  assert.equal((refused.reason as PartnerError).code, "subscription_inactive");
  assert.deepEqual(column(begun, "eventId"), [...proven, accepted.value]);
});

test("an attempt in flight during the deletion of its subscription is recorded as delivered if it succeeds", async () => {
  const { deps, organization, subscription, begun, send } = await anEngine();
  await send();
  await deleteSubscription(deps, organization, subscription.id);
  await attemptAll(deps, begun, () => acknowledged);
  assert.deepEqual(await deliveriesFor(subscription.id), [{ state: "delivered", attempts: 1 }]);
});
