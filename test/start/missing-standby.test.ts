import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "../../src/postgres/database.ts";
import { writeReadiness } from "../../src/postgres/server.ts";
import { migrate } from "../../src/schema/migrate.ts";
import { answerOnce } from "../../src/subjects/events/idempotency.ts";
import { createPublishing } from "../../src/subjects/events/publish.ts";
import { sendTestEvent } from "../../src/subjects/events/work.ts";
import { openPool } from "../support/database.ts";
import { aSubscription, createEngine } from "../support/engine.ts";
import { setStandby } from "../support/missing-standby.ts";
import { aSecondServer } from "../support/second-server.ts";

/** An engine whose server can lose its standby. Its statements are abandoned soon. */
async function anEngine(t: TestContext) {
  const { url, db: owner } = await aSecondServer(t);
  await migrate(owner);
  const db = openPool(t, url, { max: 4, patienceMs: 500 });
  const { deps } = await createEngine(db);
  const subscription = await aSubscription(deps);
  const countEvents = async () => (await owner`select from events`).length;
  return { owner, deps, subscription, countEvents };
}

async function loseStandby(owner: Database): Promise<void> {
  await setStandby(owner, "missing");
  const commits = () =>
    writeReadiness(owner.within(200)).then(
      () => true,
      () => false,
    );
  while (await commits()) await sleep(5);
}

/** Repeats the request until it succeeds. */
async function insist<Result>(request: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await request();
    } catch {
      await sleep(5); // The server has not read its settings yet.
    }
  }
}

test("an answer whose commit was abandoned is not repeated until a standby has it", async (t) => {
  const { owner, deps, subscription, countEvents } = await anEngine(t);
  const { id, secret, organizationId } = subscription;
  const key = {
    organizationId,
    route: "sendTestEvent",
    key: "one",
    hash: Buffer.alloc(32),
  } as const;
  const send = () =>
    answerOnce(deps, key, (keep) =>
      sendTestEvent(deps, organizationId, { id, secret }, (tx, to, event) => keep(tx, to, event)),
    );

  await loseStandby(owner);
  await assert.rejects(send());
  while ((await countEvents()) === 0) await sleep(5); // It is on the primary alone.
  await assert.rejects(send());
  await assert.rejects(send());

  await setStandby(owner, "");
  const { body, isReplayed } = await insist(send);
  assert.equal(isReplayed, true);
  const [event] = await owner`select id from events`;
  assert.equal(body, event?.["id"]);
  assert.equal(await countEvents(), 1);
});

test("an event whose commit was abandoned is no duplicate until a standby has it", async (t) => {
  const { owner, deps, subscription, countEvents } = await anEngine(t);
  const { publishAll } = createPublishing(deps, { max: 200, patienceMs: 500 });
  const { organizationId } = subscription;
  const event = { organizationId, type: "vc.test.ping", data: "{}", dedupeKey: "one" };

  await loseStandby(owner);
  await assert.rejects(publishAll([event]));
  while ((await countEvents()) === 0) await sleep(5);
  await assert.rejects(publishAll([event]));

  await setStandby(owner, "");
  const [published] = await insist(() => publishAll([event]));
  assert.equal(published?.isDuplicate, true);
  const [written] = await owner`select id from events`;
  assert.equal(published.eventId, written?.["id"]);
  assert.equal(await countEvents(), 1);
});
