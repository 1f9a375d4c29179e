import assert from "node:assert/strict";
import { test } from "node:test";
import { checkUrl } from "../../src/egress/destination.ts";
import { isContactable } from "../../src/egress/address-policy.ts";
import { isPublic } from "./special-addresses.ts";

/** Published vulnerabilities of other projects, tested against our policy. */
const nothing = { allow: [], deny: [] };

function refusesLiterals(hosts: string[]): void {
  for (const host of hosts) {
    const verdict = checkUrl(`https://${host}/`, nothing);
    assert.equal(verdict.ok, false, host);
    assert.equal(isPublic(host.replace(/^\[|\]$/g, "")), false, host);
  }
}

test("CVE-2023-42282 (ip): hexadecimal loopback is not public", () => {
  refusesLiterals(["0x7f.1", "0x7f.0x0.0x0.0x1", "0x7f000001"]);
});

test("CVE-2024-29415 (ip): short, octal and long spellings are not public", () => {
  refusesLiterals(["127.1", "0", "01200034567", "012.1.2.3", "017700000001", "127.0.1"]);
  refusesLiterals(["[000:0:0000::01]", "[::fFFf:127.0.0.1]", "[0:0:0:0:0:ffff:7f00:1]"]);
});

test("CVE-2025-8267 (ssrfcheck): multicast addresses are not public", () => {
  refusesLiterals(["224.0.0.1", "239.255.255.250", "[ff02::1]", "[ff0e::1]"]);
});

test("CVE-2025-62718 (axios): localhost with a final dot and IPv6 loopback are refused", () => {
  refusesLiterals(["localhost.", "LOCALHOST.", "app.localhost.", "[::1]"]);
});

test("CVE-2026-43929 (ssrfcheck): mapped addresses are judged after the URL parser rewrote them", () => {
  const addresses = ["127.0.0.1", "169.254.169.254", "192.168.1.1", "10.0.0.1", "172.16.0.1"];
  for (const address of [...addresses, "0.0.0.0", "100.64.0.1"]) {
    const { hostname } = new URL(`https://[::ffff:${address}]/`);
    assert.match(hostname, /^\[::ffff:[0-9a-f]+:[0-9a-f]+\]$/, "the dots are gone");
    refusesLiterals([hostname, `[::ffff:${address}]`, `[0:0:0:0:0:ffff:${address}]`]);
  }
});

test("SVIXSEC-2026-0001 (svix): a bracketed literal is not taken for a name", () => {
  refusesLiterals(["[::1]", "[::]", "[fd00::1]", "[fe80::1]", "[::ffff:7f00:1]"]);
  assert.equal(checkUrl("http://[::1]/", nothing).ok, false);
});

test("GHSA-w5pj-fmvx-pfr8 (convoy): the remote address of a socket can be checked", () => {
  for (const remoteAddress of [
    "127.0.0.1",
    "::1",
    "::ffff:127.0.0.1",
    "fe80::1%eth0",
    "10.0.0.1",
  ]) {
    assert.equal(isContactable(remoteAddress, nothing), false, remoteAddress);
  }
  assert.equal(isContactable("93.184.215.14", nothing), true);
  assert.equal(isContactable("2606:4700:4700::1111", nothing), true);
});

test("addresses that seven other projects allow by default are refused", () => {
  refusesLiterals(["168.63.129.16", "[4000::1]", "[2606:4700::5efe:7f00:1]", "[::7f00:1]"]);
  refusesLiterals(["[::ffff:0:7f00:1]", "[2001:0:7f00:1::]", "[fec0::1]", "[64:ff9b::7f00:1]"]);
  refusesLiterals(["[2002:7f00:1::]", "198.18.0.1", "0.1.2.3", "192.0.0.1", "240.0.0.1"]);
});
