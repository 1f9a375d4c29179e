import assert from "node:assert/strict";
import { test } from "node:test";
import { hasLostIpv4, readOwnNetwork } from "../../src/egress/dial.ts";

/** Routing tables in Linux's format. */
const IPV4 = {
  none: table([]),
  network: table(["eth0 000200C0 00000000 0001 0 0 0 00FFFFFF 0 0 0"]),
  refusals: table([
    "* 00000000 00000000 0201 0 0 0 00000000 0 0 0",
    "* 007100CB 00000000 0001 0 0 0 00FFFFFF 0 0 0",
  ]),
  "a black hole": table(["* 00000000 00000000 0001 0 0 0 00000000 0 0 0"]),
  loopback: table(["lo 00000000 00000000 0001 0 0 0 00000000 0 0 0"]),
  down: table(["eth0 00000000 010200C0 0002 0 0 0 00000000 0 0 0"]),
  gateway: table(["eth0 00000000 010200C0 0003 0 0 0 00000000 0 0 0"]),
  device: table(["ppp0 00000000 00000000 0001 0 0 0 00000000 0 0 0"]),
  halves: table([
    "tun0 00000000 00000000 0001 0 0 0 00000080 0 0 0",
    "tun0 00000080 00000000 0001 0 0 0 00000080 0 0 0",
  ]),
  multicast: table(["eth0 000000E0 00000000 0001 0 0 0 000000F0 0 0 0"]),
  somewhere: table(["eth0 006433C6 010200C0 0003 0 0 0 00FFFFFF 0 0 0"]),
};
const ZERO = "0".repeat(32);
const NULL_ENTRY = `${ZERO} 00 ${ZERO} 00 ${ZERO} ffffffff 00000001 00000000 00200200 lo`;
const IPV6 = {
  none: `${NULL_ENTRY}\n`,
  gateway: `${ZERO} 00 ${ZERO} 00 fd${"0".repeat(29)}1 00000400 00000002 00000000 00000003 eth0\n${NULL_ENTRY}\n`,
};

function table(rows: string[]): string {
  const head = "Iface Destination Gateway Flags RefCnt Use Metric Mask MTU Window IRTT";
  return [head, ...rows].map((row) => `${row.replaceAll(" ", "\t")}  \n`).join("");
}

for (const name of [
  "none",
  "network",
  "refusals",
  "a black hole",
  "loopback",
  "down",
  "multicast",
] as const) {
  test(`a machine whose IPv4 routes are ${name} has lost its way out`, () => {
    const network = { ipv4Routes: IPV4[name], ipv6Routes: IPV6.none, hasIpv4Address: true };
    assert.equal(hasLostIpv4(network), true);
  });
}

for (const name of ["gateway", "device", "halves", "somewhere"] as const) {
  test(`a machine whose IPv4 routes are ${name} has a way out`, () => {
    const network = { ipv4Routes: IPV4[name], ipv6Routes: IPV6.none, hasIpv4Address: true };
    assert.equal(hasLostIpv4(network), false);
  });
}

test("a machine with only IPv6 has a route, and one without addresses has none", () => {
  const network = { ipv4Routes: IPV4.none, ipv6Routes: IPV6.gateway };
  assert.equal(hasLostIpv4({ ...network, hasIpv4Address: false }), false);
  assert.equal(hasLostIpv4({ ...network, hasIpv4Address: true }), true);
  const neither = { ipv4Routes: IPV4.none, ipv6Routes: IPV6.none, hasIpv4Address: false };
  assert.equal(hasLostIpv4(neither), true);
});

test("a system that does not show its routes counts as having them", () => {
  const network = { ipv4Routes: null, ipv6Routes: null, hasIpv4Address: true };
  assert.equal(hasLostIpv4(network), false);
});

test("this machine's routes are read from Linux", async () => {
  const { ipv4Routes, ipv6Routes } = await readOwnNetwork();
  const isShown = process.platform === "linux";
  assert.equal(ipv4Routes?.startsWith("Iface") ?? false, isShown);
  assert.ok(ipv6Routes === null || isShown);
});
