import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parseCidr } from "../../src/lib/ip-address.ts";
import { checkUrl, type Destination } from "../../src/egress/destination.ts";
import type { AddressPolicy } from "../../src/egress/address-policy.ts";
import { isPublicByTheList, text4 } from "./special-addresses.ts";
import { URLS } from "../support/urls.ts";

const nothing: AddressPolicy = { allow: [], deny: [] };

for (const { url, accepted, reason, note } of URLS) {
  test(`${accepted ? "accepts" : "refuses"} ${note}`, () => {
    const verdict = checkUrl(url, nothing);
    assert.equal(verdict.ok, accepted);
    assert.equal(verdict.ok ? null : verdict.detail, reason);
  });
}

test("the explanation repeats no part of the URL", () => {
  const reasons = new Set(URLS.map(({ reason }) => reason));
  assert.ok(reasons.size < 20, "one sentence for each rule");
});

function destinationOf(url: string, policy = nothing): Destination {
  const verdict = checkUrl(url, policy);
  assert.ok(verdict.ok, url);
  return verdict.destination;
}

test("a URL becomes a destination", () => {
  assert.deepEqual(destinationOf("HTTPS://Hooks.Example.com:8443/a/../b?x=ä#top"), {
    url: "HTTPS://Hooks.Example.com:8443/a/../b?x=ä#top",
    host: "hooks.example.com",
    port: 8443,
    path: "/b?x=%C3%A4",
    hostHeader: "hooks.example.com:8443",
    address: null,
  });
});

test("the default port is 443 and is not part of the Host header", () => {
  for (const url of ["https://example.com", "https://example.com:443", "https://example.com:/"]) {
    const { port, hostHeader, path } = destinationOf(url);
    assert.deepEqual(
      { port, hostHeader, path },
      { port: 443, hostHeader: "example.com", path: "/" },
    );
  }
});

test("the Host header and the TLS name have no final dot", () => {
  const { host, hostHeader } = destinationOf("https://example.com.:8443/");
  assert.deepEqual({ host, hostHeader }, { host: "example.com", hostHeader: "example.com:8443" });
});

test("an international name is looked up as punycode", () => {
  assert.equal(destinationOf("https://Bücher.example/").host, "xn--bcher-kva.example");
});

test("a literal needs no look-up and has brackets only in the Host header", () => {
  const v4 = destinationOf("https://0x5db8d70e:8443/");
  assert.equal(v4.address, "93.184.215.14");
  assert.equal(v4.host, "93.184.215.14");

  const v6 = destinationOf("https://[2606:4700:0:0::ABCD]:8443/");
  assert.equal(v6.address, "2606:4700::abcd");
  assert.equal(v6.host, "2606:4700::abcd");
  assert.equal(v6.hostHeader, "[2606:4700::abcd]:8443");
});

test("an IPv4 literal is judged by its value in every spelling", () => {
  const bases = [
    (n: bigint) => String(n),
    (n: bigint) => `0${n.toString(8)}`,
    (n: bigint) => `0x${n.toString(16)}`,
  ];
  const fullWidth = (text: string) =>
    text.replace(/[0-9]/g, (digit) => String.fromCodePoint(0xff10 + Number(digit)));
  const encoded = (text: string) =>
    text.replace(/[0-9]/g, (digit) => `%${digit.charCodeAt(0).toString(16)}`);
  const disguises = [(text: string) => text, fullWidth, encoded, (text: string) => `${text}.`];

  const address = fc.oneof(
    fc.bigInt(0n, (1n << 32n) - 1n),
    fc.constantFrom(0x7f000001n, 0xa9fea9fen, 0x0a000001n, 0xc0a80101n, 0x5db8d70en),
  );
  const spelling = fc.tuple(
    fc.array(fc.constantFrom(...bases), { minLength: 4, maxLength: 4 }),
    fc.integer({ min: 1, max: 4 }),
    fc.constantFrom(...disguises),
  );

  fc.assert(
    fc.property(address, spelling, (value, [writers, count, disguise]) => {
      // With fewer than four parts, the last part fills the rest.
      const parts = Array.from({ length: count }, (_, i) => {
        const rest = 8n * BigInt(4 - count);
        const shift = i === count - 1 ? 0n : rest + 8n * BigInt(count - 1 - i);
        const bits = i === count - 1 ? rest + 8n : 8n;
        return (writers[i] ?? String)((value >> shift) & ((1n << bits) - 1n));
      });
      const verdict = checkUrl(`https://${disguise(parts.join("."))}/`, nothing);
      assert.equal(verdict.ok, isPublicByTheList(4, value), parts.join("."));
      if (verdict.ok) assert.equal(verdict.destination.address, text4(value));
    }),
    { numRuns: 2_000 },
  );
});

test("the check never throws, and an accepted URL has a host and a port", () => {
  const pieces = fc.constantFrom(
    "https://",
    "http://",
    "@",
    ":",
    "/",
    "?",
    "#",
    ".",
    "..",
    "[",
    "]",
    "%",
    "\\",
    "0",
    "0x7f",
    "127.0.0.1",
    "localhost",
    "example",
    ".com",
    "local",
    "::1",
    "::ffff:",
    "443",
    "65536",
    "ａ",
    "。",
  );
  const texts = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.webUrl(),
    fc.array(pieces, { maxLength: 8 }).map((some) => `https://${some.join("")}`),
  );
  fc.assert(
    fc.property(texts, (url) => {
      const verdict = checkUrl(url, nothing);
      if (!verdict.ok) return;
      const { host, port, hostHeader, path } = verdict.destination;
      assert.match(host, /^[a-z0-9_.:-]+$/);
      assert.match(hostHeader, /^[a-z0-9_.:[\]-]+$/);
      assert.match(path, /^\/[\x21-\x7e]*$/);
      assert.equal(
        new URL(`https://${hostHeader}`).host,
        hostHeader,
        "not the host that a URL parser reads",
      );
      assert.ok(port >= 1 && port <= 65_535);
    }),
    { numRuns: 3_000 },
  );
});

const loopback = parseCidr("127.0.0.0/8");
assert.ok(loopback);
const rig: AddressPolicy = { allow: [loopback], deny: [] };

test("if the operator allows a block, names are judged by their addresses", () => {
  for (const host of ["localhost", "receiver.localhost", "receiver", "a.local", "a.internal"]) {
    assert.equal(destinationOf(`https://${host}:8443/`, rig).host, host);
  }
});

test("an allowed block relaxes no other rule", () => {
  const refused = [
    "http://localhost/",
    "https://a..b/",
    "https://user@localhost/",
    "https://localhost:0/",
    `https://${"a".repeat(64)}/`,
    "https://10.0.0.1/",
    "https://[::1]/",
    "https://local host/",
  ];
  for (const url of refused) assert.equal(checkUrl(url, rig).ok, false, url);
});

test("the operator can allow or deny a literal", () => {
  assert.equal(destinationOf("https://127.1/", rig).address, "127.0.0.1");
  assert.equal(destinationOf("https://[::ffff:127.0.0.1]/", rig).address, "::ffff:7f00:1");
  assert.equal(checkUrl("https://127.0.0.1/", { allow: [loopback], deny: [loopback] }).ok, false);
});
