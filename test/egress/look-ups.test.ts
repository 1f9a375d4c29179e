import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { Egress } from "../../src/egress/index.ts";
import { startDnsServer } from "../support/dns-server.ts";
import { RECEIVERS } from "../support/sender.ts";

const CONCURRENCY = 4;
const ADDRESSES = ["127.0.0.2"];
/** Nobody listens there. */
const HOOKS = "https://hooks.test:1/";
const LOOKED_UP = { kind: "unreachable", reason: "connection_refused", detail: null };

async function startEgress(t: TestContext) {
  const dns = await startDnsServer(t);
  const egress = new Egress({
    nameServers: [dns.address],
    lookUpMs: 3_600_000,
    maxLookUps: CONCURRENCY,
    policy: RECEIVERS,
  });
  t.after(() => egress.close());
  dns.set("hooks.test", { A: ADDRESSES });
  const post = (url: string) =>
    egress.post({ url, headers: {}, body: Buffer.from("{}"), timeoutMs: 7_200_000 });
  return { egress, post, aSilentUrl };

  function aSilentUrl(name: string): string {
    dns.set(`${name}.test`, "silence");
    return `https://${name}.test/`;
  }
}

test("an organization that uses too many silent hosts is refused, and no other", async (t) => {
  const { egress, post, aSilentUrl } = await startEgress(t);
  const attack = (i: number) => egress.check(aSilentUrl(`silent-${i}`), "acme");
  for (let i = 0; i < CONCURRENCY; i++) void attack(i);
  for (const url of [HOOKS, aSilentUrl("one-more")]) {
    const refused = await egress.check(url, "acme");
    assert.equal(refused.ok ? null : refused.refusal, "too_many_lookups");
  }

  for (const organization of ["globex", "initech", "umbrella"]) {
    const vetted = await egress.check(HOOKS, organization);
    assert.deepEqual(vetted.ok && vetted.addresses, ADDRESSES);
  }
  assert.deepEqual(await post(HOOKS), LOOKED_UP);
});

test("a finished look-up no longer counts", async (t) => {
  const { egress } = await startEgress(t);
  for (let i = 0; i < 3 * CONCURRENCY; i++) assert.ok((await egress.check(HOOKS, "acme")).ok);
});

test("every possible attempt can have its own look-up", async (t) => {
  const { post, aSilentUrl } = await startEgress(t);
  for (let i = 1; i < CONCURRENCY; i++) void post(aSilentUrl(`silent-${i}`));
  assert.deepEqual(await post(HOOKS), LOOKED_UP);
});
