import assert from "node:assert/strict";
import { test } from "node:test";
import { startProgram } from "../support/program.ts";
import { startService } from "../support/service.ts";
import { eventIdOf, startLocalReceiver } from "../support/receiver.ts";
import { hang, status } from "../support/receiver-scripts.ts";
import { aPartner, aRig, aSubscriber, call } from "../support/rig.ts";

test("kill -9 between the acceptance and the delivery: the event is delivered after a restart", async (t) => {
  const rig = await aRig(t);
  const accepting = await startProgram(t, { ...rig, ROLE: "api" });
  const { receiver, partner, subscription } = await aSubscriber(t, accepting);
  const { status: accepted, body } = await partner.ping(subscription);
  assert.equal(accepted, 200);
  assert.equal(await accepting.end("SIGKILL"), "SIGKILL");

  await startService(t, rig);
  const delivery = await receiver.next();
  assert.equal(eventIdOf(delivery), body["event_id"]);
});

test("kill -9 during an attempt: the event is delivered after the lease, and no attempt is counted", async (t) => {
  const rig = await aRig(t);
  const first = await startProgram(t, { ...rig, ATTEMPT_TIMEOUT: "2s" }); // A lease of six seconds.
  const { receiver, partner, subscription } = await aSubscriber(t, first);
  receiver.answer(hang, status(200));
  await partner.ping(subscription);
  await receiver.next();
  await first.end("SIGKILL");

  const second = await startService(t, rig);
  await receiver.next();
  const again = aPartnerOf(second, partner.token);
  assert.deepEqual((await again(`/webhooks/${subscription.id}/failures`)).body["items"], []);
});

test("a stop that SHUTDOWN_GRACE ends prints one line, and no attempt is counted", async (t) => {
  const rig = await aRig(t);
  const program = await startProgram(t, { ...rig, SHUTDOWN_GRACE: "100ms" });
  const { receiver, partner, subscription } = await aSubscriber(t, program);
  receiver.answer(hang);
  await partner.ping(subscription);
  await receiver.next();
  assert.equal(await program.end("SIGTERM"), 1);
  const told = "error: SHUTDOWN_GRACE is over: unfinished attempts will be repeated\n";
  assert.equal(program.complaint(), told);

  const next = await startService(t, { ...rig, ROLE: "api" });
  const again = aPartnerOf(next, partner.token);
  assert.deepEqual((await again(`/webhooks/${subscription.id}/failures`)).body["items"], []);
});

test("SIGTERM during an attempt: the attempt finishes and is recorded, and the exit status is 0", async (t) => {
  const rig = await aRig(t);
  const receiver = await startLocalReceiver(t);
  let answer: () => void = () => undefined;
  const asked = new Promise<void>((resolve) => {
    receiver.answer(({ response }) => {
      answer = () => response.writeHead(503).end();
      resolve();
    });
  });
  const program = await startProgram(t, rig);
  const partner = await aPartner(program, "acme");
  const subscription = await partner.subscribe(receiver.url("/hooks"));
  await partner.ping(subscription);
  await asked;

  const ended = program.end("SIGTERM");
  answer();
  assert.equal(await ended, 0);

  const next = await startService(t, { ...rig, ROLE: "api" });
  const again = aPartnerOf(next, partner.token);
  const { body } = await again(`/webhooks/${subscription.id}/failures`);
  const [failure] = body["items"] as Record<string, unknown>[];
  assert.equal(failure?.["http_status"], 503);
  assert.equal(failure["attempt"], 1);
});

function aPartnerOf(program: { partnerUrl: string }, token: string) {
  return (path: string) => call(`${program.partnerUrl}/api/v1/partner${path}`, { token });
}
