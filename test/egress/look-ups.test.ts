import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { openDestinations } from "../../src/wiring/egress.ts";
import { startDnsServer } from "../support/dns-server.ts";

const CONCURRENCY = 4;
const ADDRESSES = ["93.184.215.14"];
const HOOKS = "https://hooks.test/";

async function startDestinations(t: TestContext) {
  const dns = await startDnsServer(t);
  const destinations = openDestinations({
    dnsServers: [dns.address],
    attemptTimeoutMs: 3_600_000,
    egress: { allow: [], deny: [] },
    dispatchConcurrency: CONCURRENCY,
  });
  t.after(destinations.close);
  dns.set("hooks.test", { A: ADDRESSES });
  return { dns, ...destinations, aSilentUrl };

  function aSilentUrl(name: string): string {
    dns.set(`${name}.test`, "silence");
    return `https://${name}.test/`;
  }
}

test("an organization that uses too many silent hosts is refused, and no other", async (t) => {
  const { forRequests, forDeliveries, aSilentUrl } = await startDestinations(t);
  const attack = (i: number) => forRequests(aSilentUrl(`silent-${i}`), "acme");
  for (let i = 0; i < CONCURRENCY; i++) void attack(i);
  for (const url of [HOOKS, aSilentUrl("one-more")]) {
    const refused = await forRequests(url, "acme");
    assert.equal(refused.ok ? null : refused.refusal, "too_many_lookups");
  }

  for (const organization of ["globex", "initech", "umbrella"]) {
    const vetted = await forRequests(HOOKS, organization);
    assert.deepEqual(vetted.ok && vetted.addresses, ADDRESSES);
  }
  const vetted = await forDeliveries(HOOKS);
  assert.deepEqual(vetted.ok && vetted.addresses, ADDRESSES);
});

test("a finished look-up no longer counts", async (t) => {
  const { forRequests } = await startDestinations(t);
  for (let i = 0; i < 3 * CONCURRENCY; i++) assert.ok((await forRequests(HOOKS, "acme")).ok);
});

test("every possible attempt can have its own look-up", async (t) => {
  const { forDeliveries, aSilentUrl } = await startDestinations(t);
  for (let i = 1; i < CONCURRENCY; i++) void forDeliveries(aSilentUrl(`silent-${i}`));
  const vetted = await forDeliveries(HOOKS);
  assert.deepEqual(vetted.ok && vetted.addresses, ADDRESSES);
});
