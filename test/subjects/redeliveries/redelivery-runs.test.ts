import assert from "node:assert/strict";
import { test } from "node:test";
import { runRedelivery } from "../../../src/jobs/redelivery.ts";
import { attemptId, numberedId, publicId } from "../../../src/lib/ids.ts";
import { recordAttempts } from "../../../src/subjects/deliveries/attempts.ts";
import type { Attempt } from "../../../src/subjects/deliveries/rules.ts";
import { insertRedeliveries, lockFinished } from "../../../src/subjects/redeliveries/sql.ts";
import type { RedeliveryView } from "../../../src/subjects/redeliveries/work.ts";
import { lockHealth } from "../../../src/subjects/subscriptions/sql.ts";
import { column } from "../../support/columns.ts";
import {
  acknowledged,
  anOrganization,
  aSubscription,
  attemptAll,
  claimAll,
  publish,
  refused,
} from "../../support/engine.ts";
import { codeOf, countsOf, createRedeliveries, wh } from "../../support/redeliveries.ts";
import { untilBlocked } from "../../support/until-blocked.ts";

const { deps, clock, deliverDue, deadLetters, runAll, begin, get, set } =
  await createRedeliveries();

test("a job keeps to its rate", async () => {
  const subscription = await deadLetters(30);
  const job = await begin({ filter: { subscription: wh(subscription) }, rate_per_second: 4 });
  for (let quarter = 1; quarter <= 8; quarter++) {
    while (await runRedelivery(deps));
    assert.equal((await get(job.id)).done, quarter);
    clock.advance(250);
  }
  await runAll();
});

test("a job pauses, resumes and is cancelled, and a finished job does not change", async () => {
  const subscription = await deadLetters(10);
  const job = await begin({ filter: { subscription: wh(subscription) }, rate_per_second: 4 });
  await runRedelivery(deps);
  assert.equal((await get(job.id)).state, "running");
  assert.equal((await set(job.id, "paused")).status, 200);
  clock.advance(60_000);
  assert.equal(await runRedelivery(deps), false);
  assert.deepEqual([(await get(job.id)).state, (await get(job.id)).done], ["paused", 1]);

  assert.equal(((await set(job.id, "running")).body as RedeliveryView).state, "running");
  await runRedelivery(deps);
  const cancelled = (await set(job.id, "cancelled")).body as RedeliveryView;
  assert.deepEqual([cancelled.state, cancelled.done], ["cancelled", 2]);
  assert.ok(cancelled.finished_at);
  clock.advance(60_000);
  assert.equal(await runRedelivery(deps), false);
  for (const state of ["paused", "running", "cancelled"]) {
    const refused = await set(job.id, state);
    assert.deepEqual([refused.status, codeOf(refused)], [409, "redelivery_finished"]);
  }
});

test("a job does not send again what a receiver acknowledged as its subscription was disabled", async () => {
  await deliverDue(() => acknowledged); // The deliveries of earlier tests.
  const subscription = await aSubscription(deps);
  const { organizationId } = subscription;
  const [failed = "", ...delivered] = await publish(deps, organizationId, 3);
  const claims = await claimAll(deps);
  const ended = (event: string): Attempt => {
    const claim = claims.find(({ eventId }) => eventId === event);
    assert.ok(claim);
    const outcome = event === failed ? refused : acknowledged;
    const id = attemptId(claim.id, 1, clock());
    return { id, claim, outcome, startedAt: clock(), endedAt: clock() };
  };
  const [inTheBatch = "", later = ""] = delivered;
  const disabling = { ...deps, rules: { ...deps.rules, autoDisableAfter: 1 } };
  const { disabled } = await recordAttempts(disabling, [failed, inTheBatch].map(ended));
  assert.deepEqual(disabled, [subscription.id]);
  const { recorded } = await recordAttempts(deps, [ended(later)]);
  assert.deepEqual(column(recorded, "state"), ["delivered"]);

  clock.advance(1_000);
  const to = await aSubscription(deps, organizationId);
  const job = await begin({ filter: { subscription: wh(subscription) }, to: wh(to) });
  await runAll();
  assert.equal(countsOf(await get(job.id)), "finished: 1 of 1 done, 0 skipped, 0 failed");
  const again = await deps.db<{ event_id: string }[]>`
    select event_id from waiting_deliveries where subscription_id = ${to.id}`;
  assert.deepEqual(column(again, "event_id"), [failed]);
  await deliverDue(() => acknowledged);
});

test("one job runs at a time for each subscription", async () => {
  const organizationId = await anOrganization(deps);
  const [one, other] = [
    await aSubscription(deps, organizationId),
    await aSubscription(deps, organizationId),
  ];
  await publish(deps, organizationId, 4);
  await deliverDue(() => refused);
  clock.advance(1_000);
  const job = (filter: object, to?: string) =>
    begin({ filter, rate_per_second: 1, ...(to && { to }) });
  const first = await job({ subscription: wh(one) });
  const second = await job({ subscription: wh(one) });
  const apart = await job({ subscription: wh(other) });
  const whole = await job({ organization: publicId("org", organizationId) });

  while (await runRedelivery(deps));
  const states = async () =>
    Promise.all([first, second, apart, whole].map(async ({ id }) => (await get(id)).state));
  assert.deepEqual(await states(), ["running", "queued", "running", "queued"]);

  // A resumed job waits for the running one.
  await set(first.id, "paused");
  while (await runRedelivery(deps));
  assert.deepEqual(await states(), ["paused", "running", "running", "queued"]);
  const resumed = await set(first.id, "running");
  assert.equal((resumed.body as RedeliveryView).state, "queued");
  await runAll();
  assert.deepEqual(await states(), ["finished", "finished", "finished", "finished"]);
  assert.equal(await deliverDue(() => acknowledged), 8);
});

test("processes that work on a job at once send nothing twice", async () => {
  const subscription = await deadLetters(40);
  const job = await begin({ filter: { subscription: wh(subscription) }, rate_per_second: 20 });
  for (let i = 0; i < 20; i++) {
    await Promise.all([1, 2, 3, 4].map(() => runRedelivery(deps)));
    clock.advance(1_000);
  }
  assert.equal((await get(job.id)).done, 40);
  assert.equal(await deliverDue(() => acknowledged), 40);
});

test("an interrupted run has written nothing, and the next one repeats it", async () => {
  const subscription = await deadLetters(6);
  const job = await begin({ filter: { subscription: wh(subscription) } });
  const { db } = deps;
  const breaking = Object.assign((...args: Parameters<typeof db>) => db(...args), db, {
    begin: (work: Parameters<typeof db.begin>[0]) =>
      db.begin(async (tx) => {
        await work(tx);
        throw new Error("killed before the commit");
      }),
  }) as typeof db;
  await assert.rejects(runRedelivery({ ...deps, db: breaking }), /killed/);
  assert.deepEqual([(await get(job.id)).done, (await get(job.id)).state], [0, "queued"]);
  assert.equal(await deliverDue(() => acknowledged), 0);
  await runAll();
  assert.equal((await get(job.id)).done, 6);
  assert.equal(await deliverDue(() => acknowledged), 6);
});

test("a job waits for a simultaneous redelivery by hand, and the delivery is sent once", async () => {
  const subscription = await deadLetters(2);
  const [row] = await deps.db<{ id: string; eventId: string; finishedAt: Date }[]>`
    select id, event_id as "eventId", finished_at as "finishedAt" from finished
     where subscription_id = ${subscription.id} order by id limit 1`;
  assert.ok(row);
  const job = await begin({ filter: { subscription: wh(subscription) } });

  let run: Promise<boolean> | undefined;
  await deps.db.begin(async (tx) => {
    await lockFinished(tx, [row]);
    const [now, to] = [clock(), subscription.id];
    const again = { deliveryId: row.id, redeliveryId: numberedId(now), eventId: row.eventId };
    await insertRedeliveries(tx, [again], { to, job: null, now });
    run = runRedelivery(deps);
    await Promise.race([run, untilBlocked(deps.db)]);
  });
  await run;
  assert.deepEqual([(await get(job.id)).done, (await get(job.id)).skipped], [1, 1]);
  assert.equal(await deliverDue(() => acknowledged), 2);
});

test("a job waits for an outcome that was being recorded when it was created", async () => {
  const subscription = await aSubscription(deps);
  await publish(deps, subscription.organizationId, 2);
  const [first, second] = (await claimAll(deps)).toSorted((a, b) => (a.id < b.id ? -1 : 1));
  assert.ok(first && second);
  await attemptAll(deps, [second], () => refused);

  let recording: Promise<unknown> | undefined;
  let job: RedeliveryView | undefined;
  await deps.db.begin(async (tx) => {
    await lockHealth(tx, [subscription.id]);
    recording = attemptAll(deps, [first], () => refused);
    await untilBlocked(deps.db);
    clock.advance(1_000);
    job = await begin({ filter: { subscription: wh(subscription) } });
    assert.equal(await runRedelivery(deps), false, "it does not overtake");
  });
  await recording;
  await runAll();
  assert.ok(job);
  const { state, done } = await get(job.id);
  assert.deepEqual({ state, done }, { state: "finished", done: 2 });
  assert.equal(await deliverDue(() => acknowledged), 2);
});
