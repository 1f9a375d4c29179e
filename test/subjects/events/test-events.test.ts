import assert from "node:assert/strict";
import { test } from "node:test";
import { sendTestEvent } from "../../../src/subjects/events/work.ts";
import { Proofs } from "../../../src/subjects/keys/proofs.ts";
import { deleteSubscription } from "../../../src/subjects/subscriptions/work.ts";
import { createDatabase } from "../../support/database.ts";
import { anEngineWith, anOrganization, aSubscription } from "../../support/engine.ts";

const db = await createDatabase();

/** A subscription with one proved secret. */
async function aProvenSubscription() {
  const { deps, organization, id, secret } = await anEngineWith(db);
  await sendTestEvent(deps, organization, { id, secret });
  const disable = () => db`
    update subscriptions set auto_disabled_at = ${deps.clock()}, consecutive_failures = 20 where id = ${id}`;
  return { deps, organization, id, secret, disable };
}

test("a second proof of the same secret needs no look-up", async () => {
  const { deps, organization, id, secret } = await aProvenSubscription();
  deps.batched.findSubscription = () => Promise.reject(new Error("looked up"));
  await sendTestEvent(deps, organization, { id, secret });
});

test("a proof does not cover another secret, organization or subscription", async () => {
  const { deps, organization, id, secret } = await aProvenSubscription();
  const other = await aSubscription(deps, organization);
  const stranger = await anOrganization(deps);
  const mismatch = { code: "secret_mismatch" };
  const from = (who: string, to: string, shown: string) =>
    sendTestEvent(deps, who, { id: to, secret: shown });

  await assert.rejects(from(organization, id, other.secret), mismatch);
  await assert.rejects(from(organization, id, `${secret}A`), mismatch);
  await assert.rejects(from(organization, other.id, secret), mismatch);
  await assert.rejects(from(stranger, id, secret), { code: "not_found" });
});

test("a secret that was refused is refused again", async () => {
  const { deps, organization, id } = await aProvenSubscription();
  for (let i = 0; i < 2; i++) {
    await assert.rejects(sendTestEvent(deps, organization, { id, secret: "whsec_wrong" }), {
      code: "secret_mismatch",
    });
  }
});

test("after a proof, a deleted or disabled subscription is still reported", async () => {
  const deleted = await aProvenSubscription();
  await deleteSubscription(deleted.deps, deleted.organization, deleted.id);
  await assert.rejects(sendTestEvent(deleted.deps, deleted.organization, deleted), {
    code: "not_found",
  });

  const disabled = await aProvenSubscription();
  await disabled.disable();
  for (const secret of [disabled.secret, "whsec_wrong"]) {
    await assert.rejects(
      sendTestEvent(disabled.deps, disabled.organization, { id: disabled.id, secret }),
      { code: "subscription_inactive" },
    );
  }
});

test("the cache of proofs is bounded", () => {
  const proofs = new Proofs();
  const proof = (n: number) => ({ organizationId: "o", subscriptionId: `s${n}`, secret: "x" });
  for (let n = 0; n <= 10_000; n++) proofs.add(proof(n));
  assert.deepEqual([proofs.holds(proof(0)), proofs.holds(proof(10_000))], [false, true]);
});
