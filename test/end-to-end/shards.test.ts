import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { startService } from "../support/service.ts";
import { eventIdOf, startLocalReceiver } from "../support/receiver.ts";
import { assertUnavailable, call } from "../support/rig.ts";
import { aPartnerIn, aShardedRig, operatorOf } from "../support/shards.ts";

type Partner = Awaited<ReturnType<typeof aPartnerIn>>;

/** Repeats a ping until it is accepted. Returns the event's id. */
async function insist(partner: Partner, subscription: { id: string; secret: string }) {
  let accepted = await partner.ping(subscription);
  for (; accepted.status === 503; accepted = await partner.ping(subscription)) await sleep(10);
  assert.equal(accepted.status, 200);
  return accepted.body["event_id"];
}

test("a key's id begins with its shard, and an unknown shard is refused like an unknown key", async (t) => {
  const { rig } = await aShardedRig(t, ["00", "0b"]);
  const program = await startService(t, rig);
  const [one, other] = [
    await aPartnerIn(program, "00", "acme"),
    await aPartnerIn(program, "0b", "other"),
  ];
  assert.deepEqual([one.keyId.slice(0, 2), other.keyId.slice(0, 2)], ["00", "0b"]);
  assert.equal((await other.ask("/me")).body["partner_org"], "other");

  const refusal = async (token: string) => {
    const { status, body } = await one.ask("/me", {}, token);
    return { status, ...body, request_id: null };
  };
  const secret = one.token.split(".")[1] ?? "";
  const unknown = await refusal(`vck_00${"x".repeat(18)}.${secret}`);
  assert.equal(unknown.status, 401);
  assert.deepEqual(await refusal(`vck_zz${"x".repeat(18)}.${secret}`), unknown);
});

for (const [way, fail, repair] of [
  ["refuses connections", "close", "open"],
  ["is frozen", "freeze", "thaw"],
] as const) {
  test(`while a shard ${way}, only its organizations get 503, and it recovers`, async (t) => {
    const { rig, gateOf } = await aShardedRig(t, ["00", "01"]);
    const program = await startService(t, { ...rig, DISPATCH_CONCURRENCY: "4" });
    const receiver = await startLocalReceiver(t);
    const [well, away] = [
      await aPartnerIn(program, "01", "well"),
      await aPartnerIn(program, "00", "away"),
    ];
    const ofWell = await well.subscribe(receiver.url("/well"));
    const ofAway = await away.subscribe(receiver.url("/away"));
    await insist(away, ofAway);
    await receiver.next();

    await gateOf("00")[fail]();
    for (let i = 0; i < 3; i++) assertUnavailable(await away.ping(ofAway));
    for (let i = 0; i < 20; i++) {
      const { status, body } = await well.ping(ofWell);
      assert.equal(status, 200);
      const arrived = eventIdOf(await receiver.next());
      assert.equal(arrived, body["event_id"]);
    }
    const { status, body } = await call(`${program.partnerUrl}/readyz`, { token: "" });
    assert.equal(status, 200, JSON.stringify(body));

    await gateOf("00")[repair]();
    const eventId = await insist(away, ofAway);
    const arrived = eventIdOf(await receiver.next());
    assert.equal(arrived, eventId);
    await program.stop();
  });

  test(`a stop ends in time while a shard ${way}`, async (t) => {
    const { rig, gateOf } = await aShardedRig(t, ["00", "01"]);
    const program = await startService(t, { ...rig, SHUTDOWN_GRACE: "8s" });
    const well = await aPartnerIn(program, "01", "well");
    await gateOf("00")[fail]();
    assert.equal((await well.ask("/me")).status, 200);
    await program.stop();
  });
}

test("a process that starts while a shard is away serves it later", async (t) => {
  const { rig, gateOf } = await aShardedRig(t, ["00", "01"]);
  const before = await startService(t, rig);
  const [well, away] = [
    await aPartnerIn(before, "00", "well"),
    await aPartnerIn(before, "01", "away"),
  ];
  await before.stop();
  await gateOf("01").close();

  const program = await startService(t, { ...rig, MIGRATION_DATABASE_URL: "" });
  const me = (token: string) => call(`${program.partnerUrl}/api/v1/partner/me`, { token });
  assert.equal((await me(well.token)).status, 200);
  assert.equal((await me(away.token)).status, 503);
  const { body } = await operatorOf(program)("/overview");
  assert.equal(body["status"], "degraded");
  assert.match(JSON.stringify(body["problems"]), /"code":"shard","detail":"[^"]*\b01\b/);

  await gateOf("01").open();
  while ((await me(away.token)).status === 503) await sleep(20);
  assert.equal((await me(away.token)).status, 200);
});
