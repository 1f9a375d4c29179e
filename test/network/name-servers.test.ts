import assert from "node:assert/strict";
import { test } from "node:test";
import { createResolver, NameServers } from "../../src/network/name-servers.ts";
import { startDnsServer } from "../support/dns-server.ts";
import { standStill } from "../support/stand-still.ts";

const LIMIT_MS = 2_000;
const ADDRESS = ["192.0.2.1"];

test("answers that came while we stood still beyond the limit are in time", async (t) => {
  const dns = await startDnsServer(t);
  dns.set("a.test", { A: ADDRESS, AAAA: [] });
  const servers = new NameServers(LIMIT_MS, () => createResolver([dns.address], LIMIT_MS));
  t.after(() => {
    servers.cancel();
  });
  const asked = servers.ask("a.test");
  await Promise.all([dns.queried("A a.test"), dns.queried("AAAA a.test")]);
  standStill(LIMIT_MS + 100);
  assert.deepEqual(
    (await asked).flatMap(({ addresses }) => addresses),
    ADDRESS,
  );
});

test("where the name servers have changed, those of today are asked once the old ones fail", async (t) => {
  const [old, today] = [await startDnsServer(t), await startDnsServer(t)];
  old.setEverything("REFUSED");
  today.set("a.test", { A: ADDRESS, AAAA: [] });
  const configured = [old, today];
  const servers = new NameServers(LIMIT_MS, () =>
    createResolver([configured.shift()?.address ?? ""], LIMIT_MS),
  );
  t.after(() => {
    servers.cancel();
  });
  const addresses = async () => (await servers.ask("a.test")).flatMap((one) => one.addresses);
  assert.deepEqual(await addresses(), []);
  assert.equal(await servers.probe(LIMIT_MS), false);
  assert.deepEqual(await addresses(), ADDRESS);
});
