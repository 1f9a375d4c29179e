import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { Outcome } from "../../src/subjects/deliveries/rules.ts";
import { startGuardedReceiver } from "../support/canaries.ts";
import { startDnsServer } from "../support/dns-server.ts";
import { HOSTILE_RECEIVERS } from "../support/hostile-receivers.ts";
import { ADMIN_TOKEN, type Program, startProgram } from "../support/program.ts";
import { aPartner, aRig, call } from "../support/rig.ts";

/** Without the receivers whose outcome takes the whole attempt timeout. */
const HOSTILE = Object.entries(HOSTILE_RECEIVERS).filter(
  ([, { outcome }]) => reasonOf(outcome) !== "timeout",
);

/** The memory that the floods may leave behind, in bytes. */
const GROWTH_MAX = 64 * 1024 * 1024;
const ROUNDS = 2;

test("the service delivers to hostile receivers and records the correct reason for each, in constant memory", async (t) => {
  const { program, partner, dns } = await aGuardedService(t);
  const subscriptions: (Subscription & { what: string; expected: string | null })[] = [];
  for (const [index, [what, { script, receiver: options, outcome }]] of HOSTILE.entries()) {
    const host = `hooks-${index}.test`;
    dns.set(host, { A: ["127.0.0.2"] });
    const receiver = await startGuardedReceiver(t, { host, ...options });
    if (script !== undefined) receiver.answer(script);
    const subscription = await partner.subscribe(receiver.url());
    subscriptions.push({ ...subscription, what, expected: reasonOf(outcome) });
  }

  let before = 0;
  for (let round = 1; round <= ROUNDS; round++) {
    for (const subscription of subscriptions) await partner.ping(subscription);
    const reasons = await reasonsOf(program, round * subscriptions.length);
    for (const { id, what, expected } of subscriptions) {
      assert.equal(reasons.get(id), expected, what);
    }
    if (round === 1) before = await memoryOf(program);
  }
  const growth = (await memoryOf(program)) - before;
  assert.ok(growth < GROWTH_MAX, `${growth} bytes more than after the first round`);
});

test("denied addresses stay denied if they are also allowed or a name resolves to them", async (t) => {
  const { program, partner, dns } = await aGuardedService(t, {
    EGRESS_ALLOW: "127.0.0.0/8,::/0",
    EGRESS_DENY: "127.0.0.1/32,::1/128",
  });
  const { port } = await startGuardedReceiver(t);
  dns.set("denied.test", { A: ["127.0.0.1"] });
  dns.set("mixed.test", { A: ["127.0.0.2"], AAAA: ["::1"] });
  const hosts = ["127.0.0.1", "[::1]", "[::ffff:7f00:1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]"];
  for (const host of [...hosts, "denied.test", "mixed.test", "2130706433"]) {
    const body = { url: `https://${host}:${port}/`, events: ["vc.test.ping"] };
    const { status } = await partner.ask("/webhooks", { method: "POST", body });
    assert.equal(status, 422, host);
  }

  const receiver = await startGuardedReceiver(t, { host: "moves.test" });
  dns.set("moves.test", { A: ["127.0.0.2"] }, { A: ["127.0.0.1"] });
  const subscription = await partner.subscribe(receiver.url());
  await partner.ping(subscription);
  const reasons = await reasonsOf(program, 1);
  assert.equal(reasons.get(subscription.id), "address_not_public");
  assert.equal(receiver.connections.length, 0);
});

/** The program with EGRESS_ALLOW=127.0.0.2/32, a name server of the test, and a partner. */
async function aGuardedService(t: TestContext, env: Record<string, string> = {}) {
  const dns = await startDnsServer(t);
  const rig = await aRig(t, { EGRESS_ALLOW: "127.0.0.2/32", DNS_SERVERS: dns.address, ...env });
  const program = await startProgram(t, rig);
  return { dns, program, partner: await aPartner(program, "acme") };
}

function reasonOf(outcome: Outcome): string | null {
  if (outcome.kind === "unreachable") return outcome.reason;
  return outcome.kind === "refused" ? `http_${outcome.httpStatus}` : null;
}

/**
 * The reason of each subscription's latest failure, null without one. Waits for `count` attempted deliveries.
 */
async function reasonsOf(program: Program, count: number): Promise<Map<string, string | null>> {
  for (;;) {
    const attempted = (await deliveriesOf(program)).filter(({ attempts }) => attempts === 1);
    if (attempted.length === count) {
      return new Map(attempted.toReversed().map((one) => [one.subscription_id, one.reason]));
    }
    await sleep(50);
  }
}

interface Subscription {
  id: string;
  secret: string;
}

interface Delivery {
  subscription_id: string;
  attempts: number;
  reason: string | null;
}

async function deliveriesOf({ operatorUrl }: Program): Promise<Delivery[]> {
  const all: Delivery[] = [];
  let page = "";
  for (;;) {
    const url = `${operatorUrl}/api/v1/admin/deliveries?limit=200${page}`;
    const { body } = await call(url, { token: ADMIN_TOKEN });
    all.push(...(body["items"] as Delivery[]));
    const cursor = body["next_cursor"] as string | null;
    if (cursor === null) return all;
    page = `&cursor=${cursor}`;
  }
}

async function memoryOf({ operatorUrl }: Program): Promise<number> {
  const metrics = await (await fetch(`${operatorUrl}/metrics`)).text();
  return Number(/^process_resident_memory_bytes (\d+)$/m.exec(metrics)?.[1]);
}
