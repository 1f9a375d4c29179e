import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { createNameLookup, type LookupResult } from "../../src/egress/names.ts";
import { startDnsServer } from "../support/dns-server.ts";
import { standStill } from "../support/stand-still.ts";

const NO_NAME = { kind: "none", cause: "no_such_name" } as const;
const NO_ADDRESS = { kind: "none", cause: "no_address" } as const;
const TIMED_OUT = { kind: "none", cause: "look_up_timed_out" } as const;
const NO_RESOLVER = { kind: "no-resolver" } as const;
const FIRST = { kind: "addresses", addresses: ["192.0.2.1"] };

/** A timeout that has no effect if answers arrive, and a short one for tests that wait for silence. */
const PATIENT_MS = 10_000;
const SHORT_MS = 600;

type Options = Partial<Parameters<typeof createNameLookup>[0]>;
function startLookup(t: TestContext, servers: string[], options: Options = {}) {
  const usual = { servers, timeoutMs: PATIENT_MS, answerLocalhost: false };
  const names = createNameLookup({ ...usual, ...options });
  t.after(names.close);
  return names;
}

test("a name resolves to its addresses of both families", async (t) => {
  const dns = await startDnsServer(t, {
    "a.test": { A: ["192.0.2.1", "192.0.2.2"], AAAA: ["2001:db8::1"] },
  });
  const found = await startLookup(t, [dns.address]).lookup("a.test");
  assert.ok(found.kind === "addresses");
  assert.deepEqual(found.addresses.sort(), ["192.0.2.1", "192.0.2.2", "2001:db8::1"]);
});

for (const records of [{ A: ["192.0.2.1"] }, { AAAA: ["2001:db8::1"] }]) {
  test(`a name with only ${Object.keys(records).join()} records resolves`, async (t) => {
    const dns = await startDnsServer(t, { "a.test": records });
    const found = await startLookup(t, [dns.address]).lookup("a.test");
    assert.deepEqual(found, { kind: "addresses", addresses: Object.values(records).flat() });
  });
}

test("a name with an alias resolves to the alias's addresses", async (t) => {
  const dns = await startDnsServer(t, {
    "a.test": { CNAME: "b.test" },
    "b.test": { CNAME: "internal.test" },
    "internal.test": { A: ["10.0.0.1"] },
  });
  const found = await startLookup(t, [dns.address]).lookup("a.test");
  assert.deepEqual(found, { kind: "addresses", addresses: ["10.0.0.1"] });
});

test("an answer that is too long for UDP is fetched over TCP", async (t) => {
  const dns = await startDnsServer(t);
  const addresses = Array.from({ length: 100 }, (_, i) => `192.0.2.${i}`);
  dns.set("a.test", { A: addresses });
  const found = await startLookup(t, [dns.address]).lookup("a.test");
  assert.deepEqual(found, { kind: "addresses", addresses });
});

test("a name with an absurd number of addresses counts as having none", async (t) => {
  const dns = await startDnsServer(t);
  const addresses = Array.from({ length: 300 }, (_, i) => `10.0.${i >> 8}.${i & 255}`);
  dns.set("a.test", { A: addresses });
  assert.deepEqual(await startLookup(t, [dns.address]).lookup("a.test"), { kind: "none" });
});

test("a name that does not exist, or has no address, is the name's fault", async (t) => {
  const dns = await startDnsServer(t, { "empty.test": {} });
  const { lookup } = startLookup(t, [dns.address]);
  assert.deepEqual(await lookup("gone.test"), NO_NAME);
  assert.deepEqual(await lookup("empty.test"), NO_ADDRESS);
  assert.equal(dns.queries.length, 4); // The resolver answered, so no other question was needed.
});

for (const failure of ["SERVFAIL", "REFUSED", "silence"] as const) {
  const timeoutMs = failure === "silence" ? SHORT_MS : PATIENT_MS;
  const none =
    failure === "silence" ? TIMED_OUT : ({ kind: "none", cause: "name_servers_failed" } as const);

  test(`${failure} for one name is that name's fault as long as the resolver works`, async (t) => {
    const dns = await startDnsServer(t, { "a.test": failure });
    const { lookup } = startLookup(t, [dns.address], { timeoutMs });
    assert.deepEqual(await lookup("a.test"), none);
  });

  test(`${failure} for every name is an internal fault`, async (t) => {
    const dns = await startDnsServer(t);
    dns.setEverything(failure);
    const { lookup } = startLookup(t, [dns.address], { timeoutMs });
    assert.deepEqual(await lookup("a.test"), NO_RESOLVER);

    dns.setEverything(undefined);
    dns.set("a.test", failure);
    assert.deepEqual(await lookup("a.test"), none);
  });

  test(`${failure} for one family keeps the addresses of the other`, async (t) => {
    const dns = await startDnsServer(t, {
      "a.test": { A: failure, AAAA: ["2001:db8::1"] },
      "b.test": { A: ["192.0.2.1"], AAAA: failure },
    });
    const { lookup } = startLookup(t, [dns.address], { timeoutMs });
    assert.deepEqual(await lookup("a.test"), { kind: "addresses", addresses: ["2001:db8::1"] });
    assert.deepEqual(await lookup("b.test"), { kind: "addresses", addresses: ["192.0.2.1"] });
  });

  test(`${failure} for one family without addresses in the other is the name's fault`, async (t) => {
    const dns = await startDnsServer(t, { "a.test": { A: [], AAAA: failure } });
    const { lookup } = startLookup(t, [dns.address], { timeoutMs });
    assert.deepEqual(await lookup("a.test"), none);
  });
}

test("an unreachable resolver is an internal fault if no other responds", async (t) => {
  const gone = await startDnsServer(undefined);
  await gone.close();
  assert.deepEqual(await startLookup(t, [gone.address]).lookup("a.test"), NO_RESOLVER);

  const dns = await startDnsServer(t, { "a.test": { A: ["192.0.2.1"] } });
  const found = await startLookup(t, [gone.address, dns.address]).lookup("a.test");
  assert.deepEqual(found, { kind: "addresses", addresses: ["192.0.2.1"] });
});

test("a silent address family delays a look-up less than a silent name", async (t) => {
  const dns = await startDnsServer(t, {
    "half.test": { A: ["192.0.2.1"], AAAA: "silence" },
    "whole.test": "silence",
  });
  const { lookup } = startLookup(t, [dns.address], { timeoutMs: 2_000 }); // Beyond a pause of the process.
  const first = await Promise.race([lookup("whole.test"), lookup("half.test")]);
  assert.deepEqual(first, { kind: "addresses", addresses: ["192.0.2.1"] });
});

test("look-ups are not cached", async (t) => {
  const dns = await startDnsServer(t);
  dns.set("a.test", { A: ["192.0.2.1"], ttl: 3600 }, { A: ["10.0.0.1"], ttl: 3600 });
  const { lookup } = startLookup(t, [dns.address]);
  assert.deepEqual(await lookup("a.test"), { kind: "addresses", addresses: ["192.0.2.1"] });
  assert.deepEqual(await lookup("a.test"), { kind: "addresses", addresses: ["10.0.0.1"] });
});

test("a look-up that began more than a second ago is not shared", async (t) => {
  const dns = await startDnsServer(t, { "slow.test": "silence" });
  let now = 0;
  const names = startLookup(t, [dns.address], { lookUpsMax: 1, nowMs: () => now });
  void names.lookup("slow.test");
  now = 1_001;
  assert.deepEqual(await names.lookup("slow.test"), { kind: "too-many" });
});

test("simultaneous look-ups of a name share one", async (t) => {
  const dns = await startDnsServer(t, { "a.test": { A: ["192.0.2.1"] } });
  const { lookup } = startLookup(t, [dns.address]);
  await Promise.all([lookup("a.test"), lookup("a.test"), lookup("a.test")]);
  assert.deepEqual([...dns.queries].sort(), ["A a.test", "AAAA a.test"]);
});

test("a name with silent servers does not delay other names", async (t) => {
  const dns = await startDnsServer(t, {
    "slow.test": "silence",
    "fast.test": { A: ["192.0.2.1"] },
  });
  const { lookup } = startLookup(t, [dns.address]);
  const slow = lookup("slow.test");
  await dns.queried("A slow.test");
  const first = await Promise.race([slow, lookup("fast.test")]);
  assert.deepEqual(first, { kind: "addresses", addresses: ["192.0.2.1"] });
});

test("a look-up above the maximum is refused without a fault", async (t) => {
  const { dns, lookup } = await startSilentLookups(t, 10);
  for (let i = 0; i < 9; i++) void lookup(`silent-${i}.test`);
  assert.deepEqual(await lookup("a.test"), FIRST);
  void lookup("silent-9.test");
  assert.deepEqual(await lookup("a.test"), { kind: "too-many" });
  assert.equal(dns.queries.filter((query) => query === "A a.test").length, 1);
});

/** A name that resolves, and many names with silent servers. */
async function startSilentLookups(t: TestContext, lookUpsMax: number) {
  const dns = await startDnsServer(t, { "a.test": { A: ["192.0.2.1"] } });
  for (let i = 0; i < 20; i++) dns.set(`silent-${i}.test`, "silence");
  return { dns, ...startLookup(t, [dns.address], { timeoutMs: 3_600_000, lookUpsMax }) };
}

test("a resolver that answered during a pause of the process counts as reachable", async (t) => {
  const dns = await startDnsServer(t, { "a.test": "silence" });
  const found = startLookup(t, [dns.address], { timeoutMs: SHORT_MS }).lookup("a.test");
  await dns.queried("A a.root-servers.net");
  standStill(SHORT_MS);
  assert.deepEqual(await found, TIMED_OUT);
});

test("silent names that are too many for a resolver are put off, and are no fault of it", async (t) => {
  const { dns, silent, names } = await startCrowd(t);
  dns.setRoom(50);
  const found = await Promise.all(silent.map((name) => names.lookup(name)));
  assert.deepEqual(kindsOf(found), ["too-many"]);
});

test("a resolver that silent names have overloaded gets few look-ups until it answers a probe", async (t) => {
  const { dns, silent, names } = await startCrowd(t, 3 * SHORT_MS);
  dns.setRoom(50);
  await Promise.all(silent.map((name) => names.lookup(name)));
  dns.setRoom(Infinity);
  for (const name of silent.slice(1)) dns.set(name, { A: [] });
  const few = await Promise.all(silent.map((name) => names.lookup(name)));
  assert.equal(few.filter(({ kind }) => kind === "none").length, 32);
  const all = await Promise.all(silent.map((name) => names.lookup(name)));
  assert.deepEqual(kindsOf(all), ["none"]);
});

test("a resolver that fails few look-ups is dead, however many there were before", async (t) => {
  const { dns, silent, names, wait } = await startCrowd(t);
  dns.setEverything("REFUSED");
  await Promise.all(silent.map((name) => names.lookup(name)));
  assert.deepEqual(await names.lookup("a.test"), { kind: "too-many" });
  wait(30_000);
  assert.deepEqual(await names.lookup("a.test"), NO_RESOLVER);
});

function kindsOf(found: LookupResult[]): string[] {
  return [...new Set(found.map(({ kind }) => kind))];
}

/** Forty names whose servers keep silent, and a clock that the test moves. */
async function startCrowd(t: TestContext, timeoutMs = SHORT_MS) {
  const dns = await startDnsServer(t);
  const silent = Array.from({ length: 40 }, (_, i) => `silent-${i}.test`);
  for (const name of silent) dns.set(name, "silence");
  let now = 0;
  const names = startLookup(t, [dns.address], { timeoutMs, nowMs: () => now });
  return { dns, silent, names, wait: (ms: number) => (now += ms) };
}

test("closing ends running look-ups, and none begins afterwards", async (t) => {
  const dns = await startDnsServer(t, { "slow.test": { A: [], AAAA: "silence" } });
  const names = startLookup(t, [dns.address], { timeoutMs: 3_600_000 });
  const slow = names.lookup("slow.test");
  await dns.queried("AAAA slow.test");
  names.close();
  assert.deepEqual(await slow, NO_RESOLVER);
  assert.deepEqual(await names.lookup("a.test"), NO_RESOLVER);
  assert.ok(!dns.queries.includes("A a.test"));
});

test("names under invalid do not exist, with or without a resolver", async (t) => {
  const gone = await startDnsServer(undefined);
  await gone.close();
  const { lookup } = startLookup(t, [gone.address]);
  assert.deepEqual(await lookup("hooks.invalid"), NO_NAME);
  assert.deepEqual(await lookup("invalid.test"), NO_RESOLVER);
});

test("localhost is resolved locally if the operator allows it, and never by DNS", async (t) => {
  const dns = await startDnsServer(t);
  const asked = startLookup(t, [dns.address], { answerLocalhost: true });
  assert.deepEqual(await asked.lookup("localhost"), {
    kind: "addresses",
    addresses: ["127.0.0.1", "::1"],
  });
  assert.deepEqual(dns.queries, []);
  assert.deepEqual(await startLookup(t, [dns.address]).lookup("localhost"), NO_NAME);
});
