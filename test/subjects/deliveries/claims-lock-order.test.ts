import assert from "node:assert/strict";
import { test } from "node:test";
import { createDatabase } from "../../support/database.ts";
import { acknowledged, anEngineWith, attemptAll, refused } from "../../support/engine.ts";
import { untilBlocked } from "../../support/until-blocked.ts";

const db = await createDatabase();

test("a success that resets a counter locks its subscription first, so that it cannot deadlock with a deletion", async () => {
  const { deps, clock, claim, id: subscription } = await anEngineWith(db, 1);
  await attemptAll(deps, await claim(), () => refused);
  clock.advance(60_000);
  const claims = await claim();
  assert.equal(claims.length, 1);

  let recording: Promise<unknown> | undefined;
  await db.begin(async (tx) => {
    await tx`select from subscriptions where id = ${subscription} for update`;
    recording = attemptAll(deps, claims, () => acknowledged);
    await untilBlocked(db);
    const free = await tx`
      select from waiting_deliveries where subscription_id = ${subscription} for update skip locked`;
    assert.equal(free.length, 1);
  });
  await recording;
  const [row] =
    await db`select consecutive_failures as failures from subscriptions where id = ${subscription}`;
  assert.equal(row?.["failures"], 0);
});
