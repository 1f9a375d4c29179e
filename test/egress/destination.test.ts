import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type AddressPolicy,
  Egress,
  type LookupResult,
  type NameLookup,
  parseCidr,
  type Vetted,
} from "../../src/egress/index.ts";

const PUBLIC: AddressPolicy = { allow: [], deny: [] };
const HOST = "hooks.partner.com";

async function check(
  found: LookupResult | string[],
  url = `https://${HOST}/hook`,
  egress = PUBLIC,
) {
  const result: LookupResult = Array.isArray(found)
    ? { kind: "addresses", addresses: found }
    : found;
  return checkWith(() => Promise.resolve(result), url, egress);
}

/** One for each policy, because an Egress remembers its verdicts. */
const egresses = new Map<AddressPolicy, { egress: Egress; answer: { lookup: NameLookup } }>();

function checkWith(lookup: NameLookup, url: string, policy = PUBLIC) {
  let known = egresses.get(policy);
  if (known === undefined) {
    const answer = { lookup };
    const egress = new Egress({ policy, lookup: (host) => answer.lookup(host) });
    egresses.set(policy, (known = { egress, answer }));
  }
  known.answer.lookup = lookup;
  return known.egress.check(url);
}

function refusal(vetted: Vetted): string | null {
  return vetted.ok ? null : vetted.refusal;
}

test("a host whose addresses are all public may be contacted", async () => {
  const addresses = ["93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"];
  const vetted = await check(addresses);
  assert.ok(vetted.ok);
  assert.deepEqual(vetted.addresses, addresses);
  assert.equal(vetted.destination.host, HOST);
});

for (const addresses of [
  ["10.0.0.1"],
  ["93.184.215.14", "10.0.0.1"],
  ["93.184.215.14", "::1"],
  ["::ffff:93.184.215.14"],
  ["::ffff:10.0.0.1"],
  ["169.254.169.254"],
  ["64:ff9b::5db8:d70e"],
  [...Array<string>(99).fill("93.184.215.14"), "127.0.0.1"],
  [],
]) {
  const shown = addresses.length > 9 ? "99 public addresses and loopback" : addresses.join(" and ");
  test(`a host that resolves to ${shown || "an empty list"} is not contacted`, async () => {
    assert.equal(refusal(await check(addresses)), "address_not_public");
  });
}

test("a name without addresses is refused, and without a resolver the check is an internal fault", async () => {
  assert.equal(refusal(await check({ kind: "none" })), "dns_error");
  assert.equal(refusal(await check({ kind: "no-resolver" })), "no_resolver");
});

test("a public address that the operator denies is not contacted", async () => {
  const deny = [cidr("93.184.215.0/24")];
  assert.equal(
    refusal(await check(["93.184.215.14"], undefined, { allow: [], deny })),
    "address_not_public",
  );
});

test("a URL that breaks the rules is refused without a look-up", async () => {
  const lookup = () => Promise.reject(new Error("looked up"));
  for (const url of [
    "http://hooks.partner.com",
    "https://localhost",
    "https://10.0.0.1",
    "https://x.local",
  ]) {
    assert.equal(refusal(await checkWith(lookup, url)), "url");
  }
});

test("an address in the URL needs no look-up", async () => {
  const lookup = () => Promise.reject(new Error("looked up"));
  for (const [url, address] of [
    ["https://93.184.215.14/", "93.184.215.14"],
    [
      "https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]:8443/",
      "2606:2800:21f:cb07:6820:80da:af6b:8b2c",
    ],
  ] as const) {
    const vetted = await checkWith(lookup, url);
    assert.deepEqual(vetted.ok && vetted.addresses, [address]);
  }
});

test("localhost resolves to the loopback addresses that the operator allows", async () => {
  const loopback = ["127.0.0.1", "::1"];
  const egress = { allow: [cidr("127.0.0.0/8")], deny: [] };
  const vetted = await check(loopback, "https://localhost:8443/", egress);
  assert.deepEqual(vetted.ok && vetted.addresses, ["127.0.0.1"]);

  const elsewhere = { allow: [cidr("192.168.0.0/16")], deny: [] };
  assert.equal(
    refusal(await check(loopback, "https://localhost/", elsewhere)),
    "address_not_public",
  );
  assert.equal(refusal(await check(loopback, "https://local.test/", egress)), "address_not_public");
});

test("the verdict on a URL depends on the policy in use", async () => {
  const url = "https://127.0.0.1/";
  const allowing = { allow: [cidr("127.0.0.1/32")], deny: [] };
  assert.equal(refusal(await check([], url, PUBLIC)), "url");
  assert.equal(refusal(await check([], url, allowing)), null);
  assert.equal(refusal(await check([], url, PUBLIC)), "url");
});

test("no refusal contains an address or the URL", async () => {
  for (const found of [["10.1.2.3"], { kind: "none" }, { kind: "no-resolver" }] as const) {
    const vetted = await check(Array.isArray(found) ? [...found] : (found as LookupResult));
    assert.ok(!vetted.ok);
    assert.doesNotMatch(vetted.detail, /10\.1|partner/);
  }
});

function cidr(block: string) {
  const parsed = parseCidr(block);
  assert.ok(parsed);
  return parsed;
}

test("the verdict on a URL is cached unless the URL is long", async () => {
  const destinationOf = async (url: string) => {
    const vetted = await check(["93.184.215.14"], url);
    assert.ok(vetted.ok);
    return vetted.destination;
  };
  const short = `https://${HOST}/hook`;
  const long = `https://${HOST}/${"\u{1f600}".repeat(128)}`;
  assert.equal(await destinationOf(short), await destinationOf(short));
  assert.notEqual(await destinationOf(long), await destinationOf(long));
});

test("the cache of verdicts is bounded", async () => {
  const egress: AddressPolicy = { allow: [], deny: [] };
  const destinationOf = async (path: number) => {
    const vetted = await check(["93.184.215.14"], `https://${HOST}/${path}`, egress);
    assert.ok(vetted.ok);
    return vetted.destination;
  };
  const first = await destinationOf(0);
  for (let path = 1; path < 10_000; path++) await destinationOf(path);
  assert.equal(await destinationOf(0), first);
  await destinationOf(10_000);
  assert.notEqual(await destinationOf(0), first);
});
