import assert from "node:assert/strict";
import { test } from "node:test";
import { openDestinations } from "../../src/wiring/destinations.ts";
import { startDnsServer } from "../support/dns-server.ts";

test("callers who name silent hosts without end hold up no delivery", async (t) => {
  const dns = await startDnsServer(t);
  dns.set("hooks.test", { A: ["93.184.215.14"] });
  const destinations = openDestinations({
    dnsServers: [dns.address],
    attemptTimeoutMs: 3_600_000,
    egress: { allow: [], deny: [] },
  });
  t.after(destinations.close);

  for (let i = 0; i < 2_000; i++) {
    dns.set(`silent-${i}.test`, "silence");
    void destinations.forRequests(`https://silent-${i}.test/`);
  }
  const refused = await destinations.forRequests("https://hooks.test/");
  assert.equal(refused.ok ? null : refused.refusal, "no_resolver");

  const vetted = await destinations.forDeliveries("https://hooks.test/");
  assert.deepEqual(vetted.ok && vetted.addresses, ["93.184.215.14"]);
});

test("a look-up that is begun ahead serves no attempt but the one that it was begun for", async (t) => {
  const dns = await startDnsServer(t);
  dns.set("hooks.test", { A: ["93.184.215.14"] }, { A: ["93.184.215.15"] });
  const destinations = openDestinations({
    dnsServers: [dns.address],
    attemptTimeoutMs: 10_000,
    egress: { allow: [], deny: [] },
  });
  t.after(destinations.close);
  const url = "https://hooks.test/";

  const underWay = destinations.forDeliveries(url);
  destinations.lookAhead(url);
  await Promise.all([underWay, destinations.forDeliveries(url)]);
  const later = await destinations.forDeliveries(url);
  assert.deepEqual(later.ok && later.addresses, ["93.184.215.15"]);
});
