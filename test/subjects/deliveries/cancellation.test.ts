import assert from "node:assert/strict";
import { test } from "node:test";
import { createCancelling } from "../../../src/subjects/deliveries/cancellation.ts";
import { createDatabase } from "../../support/database.ts";
import { anEngineWith, publish } from "../../support/engine.ts";

const db = await createDatabase();

/** A subscription with one waiting delivery. `another` makes more of them. */
async function aQueue() {
  const { deps, clock, organization, id } = await anEngineWith(db);
  const another = () => publish(deps, organization);
  await another();
  const waiting = async () =>
    (await db`select from waiting_deliveries where subscription_id = ${id}`).length;
  return { id, clock, another, waiting };
}

test("a delivery that arrives after the rest was cancelled is cancelled by the next request", async () => {
  const { id, clock, another, waiting } = await aQueue();
  const { cancelRest, restCancelled } = createCancelling({ db, clock }, { max: 10 });
  cancelRest(id);
  await restCancelled();
  assert.equal(await waiting(), 0);

  await another();
  cancelRest(id);
  await restCancelled();
  assert.equal(await waiting(), 0);
});

test("a stop waits only for the running statement, and leaves the rest to claims", async () => {
  const { id, clock, waiting } = await aQueue();
  await db`
    insert into waiting_deliveries (id, event_id, subscription_id, organization_id, due_at)
    select gen_random_uuid(), event_id, subscription_id, organization_id, due_at
      from waiting_deliveries, generate_series(1, 11000) where subscription_id = ${id}`;
  const { cancelRest, restCancelled, stopCancelling } = createCancelling({ db, clock }, { max: 1 });
  cancelRest(id);
  await new Promise(setImmediate); // The notice is sent at the end of the tick.
  await stopCancelling();
  assert.equal(await waiting(), 6_001);
  cancelRest(id);
  await restCancelled();
  assert.equal(await waiting(), 6_001);
});

test("a failed cancellation is reported even if nobody waits for it", async () => {
  const { id } = await aQueue();
  const away = new Error("no time to be had");
  const clock = () => {
    throw away;
  };
  const told = await new Promise((onCancelFailed) => {
    createCancelling({ db, clock }, { onCancelFailed }).cancelRest(id);
  });
  assert.equal(told, away);
});

test("a failed cancellation is reported once, and the next request repeats it", async () => {
  const { id, clock, waiting } = await aQueue();
  const away = new Error("no time to be had");
  let isAway = true;
  const cancelling = createCancelling(
    {
      db,
      clock: () => {
        if (isAway) throw away;
        return clock();
      },
    },
    { max: 10 },
  );
  cancelling.cancelRest(id);
  await assert.rejects(cancelling.restCancelled(), away);
  await cancelling.restCancelled();

  isAway = false;
  cancelling.cancelRest(id);
  await cancelling.restCancelled();
  assert.equal(await waiting(), 0);
});
