import assert from "node:assert/strict";
import { test } from "node:test";
import { startProgram } from "../support/program.ts";
import { startService } from "../support/service.ts";
import { eventIdOf } from "../support/receiver.ts";
import { status } from "../support/receiver-scripts.ts";
import { aPartner, aRig, aSubscriber, call } from "../support/rig.ts";

test("of 700 simultaneous requests to two processes exactly 600 pass, and the others get Retry-After", async (t) => {
  const rig = await aRig(t);
  const programs = [await startProgram(t, rig), await startProgram(t, rig)] as const;
  const { token } = await aPartner(programs[0], "acme");

  const answers = await Promise.all(
    Array.from({ length: 700 }, (_, i) =>
      call(`${programs[i % 2 ? 1 : 0].partnerUrl}/api/v1/partner/me`, { token }),
    ),
  );
  assert.equal(answers.filter((a) => a.status === 200).length, 600);
  const refused = answers.filter((a) => a.status === 429);
  assert.equal(refused.length, 100);
  for (const { headers } of refused) {
    const seconds = headers.get("retry-after") ?? "";
    assert.match(seconds, /^[0-9]+$/);
    assert.ok(Number(seconds) >= 1 && Number(seconds) <= 60);
  }
});

test("one process delivers the events of another, and each event arrives once", async (t) => {
  const rig = await aRig(t);
  const api = await startProgram(t, { ...rig, ROLE: "api" });
  await startProgram(t, { ...rig, ROLE: "dispatcher" });
  await startProgram(t, { ...rig, ROLE: "dispatcher" });
  const { receiver, partner, subscription } = await aSubscriber(t, api);
  receiver.answer(status(200));

  const accepted = await Promise.all(Array.from({ length: 50 }, () => partner.ping(subscription)));
  const arrived: string[] = [];
  while (arrived.length < 50) {
    arrived.push(eventIdOf(await receiver.next()));
  }
  assert.deepEqual(arrived.toSorted(), accepted.map((a) => String(a.body["event_id"])).toSorted());
});

test("without the private authority an attempt fails with tls_error, and with it the attempt succeeds", async (t) => {
  const { EGRESS_CA_FILE: caFile = "", ...rig } = await aRig(t);
  const untrusting = await startService(t, rig);
  const { receiver, partner, subscription } = await aSubscriber(t, untrusting);
  await partner.ping(subscription);

  let failure: Record<string, unknown> | undefined;
  while (!failure) {
    const { body } = await partner.ask(`/webhooks/${subscription.id}/failures`);
    [failure] = body["items"] as Record<string, unknown>[];
  }
  assert.deepEqual([failure["reason"], failure["http_status"]], ["tls_error", 0]);
  assert.equal(receiver.requests.length, 0);
  await untrusting.stop();

  const trusting = await startService(t, { ...rig, EGRESS_CA_FILE: caFile });
  const body = { secret: subscription.secret };
  const url = `${trusting.partnerUrl}/api/v1/partner/webhooks/${subscription.id}/test`;
  await call(url, { method: "POST", token: partner.token, body });
  await receiver.next();
});
