import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { startDnsServer, type Failure, type Records } from "../support/dns-server.ts";
import { type RunningService, startService } from "../support/service.ts";
import { startReceiver } from "../support/receiver.ts";
import * as scripts from "../support/receiver-scripts.ts";
import { aPartner, aRig } from "../support/rig.ts";

/** Look-ups take up to half of the attempt timeout. */
const SHORT = { ATTEMPT_TIMEOUT: "2s" };
const LONG = { ATTEMPT_TIMEOUT: "5m" };
const GOOD: Records = { A: ["127.0.0.2"] };
const TOO_MANY = Array.from({ length: 300 }, (_, i) => `10.0.${i >> 8}.${i & 255}`);

/** The changes of a partner's name after it was subscribed. */
const NAMES: [what: string, answer: Records | Failure, reason: string][] = [
  ["gone", "NXDOMAIN", "dns_error"],
  ["failing", "SERVFAIL", "dns_error"],
  ["refused", "REFUSED", "dns_error"],
  ["silent", "silence", "dns_error"],
  ["endless", "endless", "dns_error"],
  ["crowded", { A: TOO_MANY }, "dns_error"],
  ["private", { A: ["10.0.0.1"] }, "address_not_public"],
  ["broadcast", { A: ["255.255.255.255"] }, "network_error"],
];

test("no name that a partner can choose is an internal fault", async (t) => {
  const { program, dns, acme } = await aService(t, SHORT);
  const { port } = await startReceiver(t, { host: "hooks.test" });
  for (const [what, answer, reason] of NAMES) {
    dns.set(`${what}.test`, GOOD, answer);
    const subscription = await acme.subscribe(`https://${what}.test:${port}/`);
    await acme.ping(subscription);
    assert.equal(await reasonOf(acme, subscription.id), reason, what);
  }
  await assertSound(program);
});

test("no receiver that a partner can choose is an internal fault", async (t) => {
  const { program, dns, acme } = await aService(t, SHORT);
  const certified = { host: "hooks.test", certifiedHosts: ["other.test"] };
  const [strange, mute, gone] = [
    await startReceiver(t, certified),
    await startReceiver(t, { host: "hooks.test" }),
    await startReceiver(t, { host: "hooks.test" }),
  ];
  mute.answer(scripts.hang);
  await gone.close();
  dns.set("hooks.test", GOOD);
  for (const [receiver, reason] of [
    [strange, "tls_error"],
    [mute, "timeout"],
    [gone, "connection_refused"],
  ] as const) {
    const subscription = await acme.subscribe(receiver.url());
    await acme.ping(subscription);
    assert.equal(await reasonOf(acme, subscription.id), reason);
  }
  await assertSound(program);
});

test("no number of requests is an internal fault or affects another organization", async (t) => {
  const { program, dns, acme } = await aService(t, { ...LONG, DISPATCH_CONCURRENCY: "4" });
  const globex = await aPartner(program, "globex");
  dns.set("hooks.test", GOOD);
  const flood = Array.from({ length: 30 }, (_, i) => {
    dns.set(`silent-${i}.test`, "silence");
    const body = { url: `https://silent-${i}.test/`, events: ["vc.test.ping"] };
    return acme.ask("/webhooks", { method: "POST", body });
  });
  for (const request of flood) request.catch(() => undefined); // Most end with the program.
  const refused = await Promise.race(flood);
  assert.deepEqual([refused.status, refused.body["code"]], [503, "unavailable"]);
  assert.equal(refused.headers.get("retry-after"), "5");

  const subscription = await globex.subscribe("https://hooks.test/");
  assert.match(subscription.id, /^wh_/);
  await assertSound(program);
});

test("a request without a working resolver is logged, and does not change readiness", async (t) => {
  const { program, dns, acme } = await aService(t, SHORT);
  dns.setEverything("SERVFAIL");
  const body = { url: "https://hooks.test/", events: ["vc.test.ping"] };
  const { status, headers } = await acme.ask("/webhooks", { method: "POST", body });
  assert.deepEqual([status, headers.get("retry-after")], [503, "60"]);
  await assertReady(program);
  assert.deepEqual(await faultsOf(program), [
    'partner_api_internal_faults_total{fault="no_resolver"} 1',
  ]);
});

async function aService(t: TestContext, further: Record<string, string>) {
  const dns = await startDnsServer(t);
  const egress = { EGRESS_ALLOW: "127.0.0.2/32,255.255.255.255/32", DNS_SERVERS: dns.address };
  const program = await startService(t, await aRig(t, { ...egress, ...further }));
  return { dns, program, acme: await aPartner(program, "acme", { rateLimitPerMinute: 1_000_000 }) };
}

/** The reason of the first failed attempt, once there is one. */
async function reasonOf({ ask }: Awaited<ReturnType<typeof aPartner>>, id: string) {
  for (;;) {
    const { body } = await ask(`/webhooks/${id}/failures`);
    const [failure] = body["items"] as { reason: string }[];
    if (failure !== undefined) return failure.reason;
    await sleep(20);
  }
}

async function assertSound(program: RunningService): Promise<void> {
  await assertReady(program);
  assert.deepEqual(await faultsOf(program), []);
}

async function assertReady({ partnerUrl, operatorUrl }: RunningService): Promise<void> {
  for (const url of [partnerUrl, operatorUrl]) {
    assert.equal((await fetch(`${url}/readyz`)).status, 200);
  }
}

/** The internal faults that were counted. */
async function faultsOf({ operatorUrl }: RunningService): Promise<string[]> {
  const metrics = await (await fetch(`${operatorUrl}/metrics`)).text();
  const faults = metrics.match(/^partner_api_internal_faults_total.*$/gm) ?? [];
  assert.ok(faults.length > 0);
  return faults.filter((line) => !line.endsWith(" 0"));
}
