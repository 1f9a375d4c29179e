import assert from "node:assert/strict";
import { test } from "node:test";
import { verify } from "../../src/webhook/verify.ts";
import { ADMIN_TOKEN } from "../support/program.ts";
import { startService } from "../support/service.ts";
import { startLocalReceiver } from "../support/receiver.ts";
import { status } from "../support/receiver-scripts.ts";
import { aPartner, aRig, call } from "../support/rig.ts";

test("during a key rotation both keys work, then the revoked key gets 401 on the next request", async (t) => {
  const program = await startService(t, await aRig(t));
  const partner = await aPartner(program, "acme");
  const replacement = await partner.anotherToken();
  const me = async (token: string) => (await partner.ask("/me", {}, token)).status;
  assert.deepEqual([await me(partner.token), await me(replacement)], [200, 200]);

  const keyId = partner.token.slice("vck_".length, partner.token.indexOf("."));
  const revoked = await call(`${program.operatorUrl}/api/v1/admin/keys/${keyId}`, {
    method: "DELETE",
    token: ADMIN_TOKEN,
  });
  assert.equal(revoked.status, 204);
  assert.deepEqual([await me(partner.token), await me(replacement)], [401, 200]);
});

test("a signing secret is rotated as in the contract: two subscriptions on one URL, then one is deleted", async (t) => {
  const program = await startService(t, await aRig(t));
  const receiver = await startLocalReceiver(t);
  const partner = await aPartner(program, "acme");
  const url = receiver.url("/hooks");
  const old = await partner.subscribe(url);
  const replacement = await partner.subscribe(url);
  const secret = [old.secret, replacement.secret];

  for (const subscription of [old, replacement]) {
    assert.equal((await partner.ping(subscription)).status, 200);
    const { headers, body } = await receiver.next();
    assert.equal((await verify({ secret, headers, body })).verdict, "valid");
  }

  assert.equal((await partner.ask(`/webhooks/${old.id}`, { method: "DELETE" })).status, 204);
  assert.equal((await partner.ping(old)).status, 404);
  assert.equal((await partner.ping(replacement)).status, 200);
  const { headers, body } = await receiver.next();
  const alone = await verify({ secret: replacement.secret, headers, body });
  assert.equal(alone.verdict, "valid");
});

test("after a deletion nothing is sent, and the audit is not found", async (t) => {
  const rig = { ...(await aRig(t)), RETRY_DELAYS: "100ms,100ms" };
  const program = await startService(t, rig);
  const receiver = await startLocalReceiver(t);
  const partner = await aPartner(program, "acme");
  const failing = await partner.subscribe(receiver.url("/failing"));
  receiver.answer(status(500), status(500), status(500), status(200));
  await partner.ping(failing);
  for (let attempt = 1; attempt <= 3; attempt++) await receiver.next();

  await partner.ask(`/webhooks/${failing.id}`, { method: "DELETE" });
  assert.equal((await partner.ask(`/webhooks/${failing.id}/failures`)).status, 404);

  const other = await partner.subscribe(receiver.url("/other"));
  await partner.ping(other);
  assert.equal((await receiver.next()).path, "/other");
});
