import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { listDeliveries } from "../../../src/subjects/deliveries/search-sql.ts";
import { sendTestEvent } from "../../../src/subjects/events/work.ts";
import { seal } from "../../../src/subjects/secrets/rules.ts";
import { deleteSubscription, listSubscriptions } from "../../../src/subjects/subscriptions/work.ts";
import { column } from "../../support/columns.ts";
import { createDatabase } from "../../support/database.ts";
import {
  acknowledged,
  anOrganization,
  aSubscription,
  createEngine,
  publish,
} from "../../support/engine.ts";

const db = await createDatabase();

/** Two subscriptions of one organization. `damage` changes the sealed secret of the first. */
async function twoSubscriptions(damage: (one: string, other: string) => Promise<unknown>) {
  const engine = await createEngine(db);
  const organization = await anOrganization(engine.deps);
  const one = await aSubscription(engine.deps, organization);
  const other = await aSubscription(engine.deps, organization);
  await damage(one.id, other.id);
  return { ...engine, organization, one, other };
}

/** Seals a secret of this subscription under a key that is lost. */
async function loseKey(id: string): Promise<void> {
  const sealed = seal([{ id: "lost", key: randomBytes(32) }], id, "whsec_forgotten");
  await db`update subscriptions set sealed_secret = ${sealed} where id = ${id}`;
}

async function copySecret(to: string, from: string): Promise<void> {
  await db`
    update subscriptions
       set sealed_secret = (select sealed_secret from subscriptions where id = ${from})
     where id = ${to}`;
}

test("a lost sealing key delays only the deliveries of its own subscription", async () => {
  const { deps, clock, deliverDue, organization, one } = await twoSubscriptions(loseKey);
  await publish(deps, organization, 3);
  let sent = 0;
  const answer = () => {
    sent++;
    return acknowledged;
  };
  await deliverDue(answer);
  assert.equal(sent, 3);

  const waiting = await listDeliveries(
    db,
    { subscriptionIds: [one.id] },
    { after: null, limit: 10 },
  );
  assert.deepEqual(
    waiting.map(({ state, attempts, dueAt }) => ({ state, attempts, dueAt })),
    Array.from({ length: 3 }, () => ({
      state: "waiting",
      attempts: 0,
      dueAt: new Date(clock().getTime() + 60_000),
    })),
  );
});

test("a test call on a subscription with a lost sealing key fails and names both, and other calls succeed", async () => {
  const { deps, organization, one, other } = await twoSubscriptions(loseKey);
  await assert.rejects(sendTestEvent(deps, organization, one), {
    message: `the secret of wh_${one.id} is sealed under the key "lost", which is not on the ring: add it to SEALING_KEYS`,
  });
  await sendTestEvent(deps, organization, other);
});

test("a subscription whose sealing key is lost can still be listed and deleted", async () => {
  const { deps, organization, one, other } = await twoSubscriptions(loseKey);
  assert.equal((await listSubscriptions(deps, organization)).length, 2);
  await deleteSubscription(deps, organization, one.id);
  const left = await listSubscriptions(deps, organization);
  assert.deepEqual(column(left, "id"), [other.id]);
});

test("a sealed secret that is moved to another subscription neither signs nor proves anything there", async () => {
  const { deps, deliverDue, organization, one, other } = await twoSubscriptions(copySecret);
  await publish(deps, organization);
  const secrets: string[] = [];
  await deliverDue(({ signingSecret }) => {
    secrets.push(signingSecret);
    return acknowledged;
  });
  assert.deepEqual(secrets, [other.secret]);

  for (const { secret } of [one, other]) {
    await assert.rejects(sendTestEvent(deps, organization, { id: one.id, secret }), {
      message: /does not open with the sealing key "test": the key differs, or the row was alt/,
    });
  }
});
