import assert from "node:assert/strict";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { startListener } from "../support/listener.ts";
import { startProgram } from "../support/program.ts";
import { aPartner, aRig } from "../support/rig.ts";

type Partner = Awaited<ReturnType<typeof aPartner>>;

/** A partner whose subscription leads to a listener that ended, and what is needed to start that again. */
async function aRehearsal(t: TestContext, settings: Record<string, string> = {}) {
  const rig = await aRig(t);
  const env = { DATA_DIR: rig["DATA_DIR"] ?? "" };
  const first = await startListener(t, ["--port", "0"], env);
  const program = await startProgram(t, {
    ...rig,
    EGRESS_CA_FILE: join(env.DATA_DIR, "listen", "ca.pem"),
    RETRY_DELAYS: "0s,0s,0s",
    ...settings,
  });
  const partner = await aPartner(program, "acme");
  const subscription = await partner.subscribe(first.url);
  assert.equal(await first.end(), 0);

  const ping = async () => (await partner.ping(subscription)).body["event_id"];
  const listen = (...args: string[]) => startListener(t, ["--port", first.port, ...args], env);
  return { partner, subscription, ping, listen };
}

async function failuresOf(partner: Partner, subscriptionId: string, eventId: unknown) {
  const { body } = await partner.ask(`/webhooks/${subscriptionId}/failures?limit=200`);
  return (body["items"] as { event_id: string; attempt: number; reason: string }[])
    .filter(({ event_id }) => event_id === eventId)
    .map(({ attempt, reason }) => `${attempt} ${reason}`)
    .reverse();
}

test("a partner rehearses refusals with the listener, verifies each attempt, and finds them in the audit", async (t) => {
  const { partner, subscription, ping, listen } = await aRehearsal(t);
  const { id, secret } = subscription;

  const REHEARSALS: [args: string[], reason: string, status: number | null][] = [
    [["--status", "410"], "http_410", 410],
    [["--drop"], "connection_reset", null],
  ];
  for (const [args, reason, status] of REHEARSALS) {
    const listener = await listen("--secret", secret, "--fail-first", "2", ...args);
    const eventId = await ping();
    const seen = await listener.attemptsOf(eventId, 3);
    assert.deepEqual(
      seen.map(({ attempt, verdict, answer }) => [attempt, verdict, answer.status]),
      [
        [1, "valid", status],
        [2, "valid", status],
        [3, "valid", 204],
      ],
    );
    assert.deepEqual(await failuresOf(partner, id, eventId), [`1 ${reason}`, `2 ${reason}`]);
    assert.equal(await listener.end(), 0);
  }
});

test("a partner rehearses a receiver that is too slow, and sees that the sender hung up", async (t) => {
  const { partner, subscription, ping, listen } = await aRehearsal(t, { ATTEMPT_TIMEOUT: "300ms" });
  const listener = await listen("--delay", "1h");
  const eventId = await ping();
  await listener.lines.until((all) => all.find(({ type }) => type === "sender_gone"));
  await listener.attemptsOf(eventId, 2);
  const [first] = await failuresOf(partner, subscription.id, eventId);
  assert.equal(first, "1 timeout");
  assert.equal(await listener.end(), 0);
});
