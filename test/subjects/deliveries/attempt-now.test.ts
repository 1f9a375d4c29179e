import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, beforeEach, test } from "node:test";
import { parseId, publicId } from "../../../src/lib/ids.ts";
import { recordDelivered } from "../../../src/subjects/deliveries/attempts-sql.ts";
import { attemptNow } from "../../../src/subjects/deliveries/waiting.ts";
import type { DeliveryDetail, DeliveryView } from "../../../src/subjects/deliveries/work.ts";
import { createDatabase } from "../../support/database.ts";
import {
  acknowledged,
  aSubscription,
  attemptAll,
  createEngine,
  publish,
  refused,
} from "../../support/engine.ts";
import { startOperatorApi } from "../../support/operator-api.ts";
import { untilBlocked } from "../../support/until-blocked.ts";

const HOUR_MS = 3_600_000;
const nudged: string[] = [];
const db = await createDatabase({ max: 6 });
const { deps, clock, claim, deliverDue } = await createEngine(db, {
  nudge: (due) => nudged.push(...due.map((one) => one.subscriptionId)),
});
const { ask, subjectsOf } = startOperatorApi({ after }, deps);

/** A delivery that has failed so many times and waits for its next attempt. */
async function aWaiting(failures: number) {
  const subscription = await aSubscription(deps);
  const [event = ""] = await publish(deps, subscription.organizationId);
  for (let i = 0; i < failures; i++) {
    await deliverDue(() => refused);
    if (i < failures - 1) clock.advance(24 * HOUR_MS);
  }
  const [row] = await db<{ id: string }[]>`
    select id from waiting_deliveries where event_id = ${event}`;
  return { subscription, id: publicId("dlv", row?.id ?? "") };
}

const attempt = (id: string) => ask({ method: "POST", url: `deliveries/${id}/attempt` });
const show = async (id: string) => (await ask({ url: `deliveries/${id}` })).body as DeliveryDetail;
const errorOf = async (id: string) => {
  const { status, body } = await attempt(id);
  return [status, (body as { code: string }).code];
};

test("a delivery that waits for hours is attempted now, as the same delivery and with its number of attempts", async () => {
  const { id, subscription } = await aWaiting(4);
  const waiting = await show(id);
  assert.equal(Date.parse(waiting.due_at ?? "") - clock().getTime(), 2 * HOUR_MS);

  nudged.length = 0;
  const { status, body } = await attempt(id);
  assert.equal(status, 202);
  const due = body as DeliveryView;
  assert.deepEqual(
    [due.id, due.state, due.attempts, due.due_at],
    [id, "waiting", 4, clock().toISOString()],
  );
  assert.deepEqual(nudged, [subscription.id]);
  assert.deepEqual(subjectsOf("attempt_delivery"), [id]);

  assert.equal(await deliverDue(() => acknowledged), 1);
  const delivered = await show(id);
  assert.deepEqual([delivered.state, delivered.attempts], ["delivered", 5]);
});

test("the retry schedule goes on from the attempt that was made", async () => {
  const { id } = await aWaiting(3);
  await attempt(id);
  assert.equal(await deliverDue(() => refused), 1);
  const { attempts, due_at, attempt_log } = await show(id);
  assert.equal(attempts, 4);
  assert.equal(Date.parse(due_at ?? "") - clock().getTime(), 2 * HOUR_MS);
  assert.deepEqual(
    attempt_log.map((one) => one.attempt),
    [1, 2, 3, 4],
  );
  for (let i = 5; i <= 7; i++) {
    await attempt(id);
    assert.equal(await deliverDue(() => refused), 1);
  }
  assert.equal((await show(id)).state, "dead_lettered");
});

beforeEach(() => db`delete from waiting_deliveries`);

test("an attempt in flight is not repeated, and its outcome sets the next time", async () => {
  const { id } = await aWaiting(0);
  const claims = await claim();
  assert.equal(claims.length, 1);
  assert.equal((await attempt(id)).status, 202);
  assert.deepEqual(await claim(), []);

  await attemptAll(deps, claims, () => refused);
  assert.deepEqual(await claim(), []);
  const { attempts, due_at } = await show(id);
  assert.equal(attempts, 1);
  assert.equal(Date.parse(due_at ?? "") - clock().getTime(), 60_000);
});

test("a delivery that is already due keeps its place", async () => {
  const { id } = await aWaiting(0);
  const { due_at } = await show(id);
  clock.advance(5_000);
  assert.equal(((await attempt(id)).body as DeliveryView).due_at, due_at);
  await deliverDue(() => acknowledged);
});

test("ten requests and three dispatchers at once make one attempt", async () => {
  for (let round = 0; round < 10; round++) {
    const { id } = await aWaiting(1);
    const work = [
      ...Array.from({ length: 10 }, () => attemptNow(deps, parseId("dlv", id)).then(() => [])),
      ...Array.from({ length: 3 }, () => claim()),
    ];
    const early = (await Promise.all(work)).flat();
    const claims = [...early, ...(await claim())];
    assert.equal(claims.length, 1);
    await attemptAll(deps, claims, () => acknowledged);
  }
});

test("a delivery that ends while the request waits for it is not waiting", async () => {
  const { id } = await aWaiting(1);
  clock.advance(60_000);
  const one = (await claim()).find((claimed) => claimed.id === parseId("dlv", id));
  assert.ok(one);
  let answer: Promise<(string | number)[]> | undefined;
  await db.begin(async (tx) => {
    const ended = { id: randomUUID(), startedAt: clock(), endedAt: clock() };
    assert.equal(await recordDelivered(tx, [{ ...ended, claim: one, outcome: acknowledged }]), 1);
    answer = errorOf(id);
    await untilBlocked(db);
  });
  assert.deepEqual(await answer, [409, "not_waiting"]);
});

test("finished deliveries and those of ended subscriptions are 409, unknown ones 404", async () => {
  const delivered = await aWaiting(0);
  await deliverDue(() => acknowledged);
  assert.deepEqual(await errorOf(delivered.id), [409, "not_waiting"]);

  const { id, subscription } = await aWaiting(1);
  await db`update subscriptions set auto_disabled_at = ${clock()} where id = ${subscription.id}`;
  assert.deepEqual(await errorOf(id), [409, "subscription_inactive"]);

  for (const unknown of [publicId("dlv", randomUUID()), "dlv_x"]) {
    assert.deepEqual(await errorOf(unknown), [404, "not_found"]);
  }
  const typed = { method: "POST" as const, url: `deliveries/${delivered.id}/attempt` };
  const { status } = await ask({ ...typed, headers: { "content-type": "application/json" } });
  assert.equal(status, 409, "a media type without a body is no fault");
});
