import assert from "node:assert/strict";
import { test } from "node:test";
import { createLocalChecks } from "../../src/egress/dial.ts";
import { DELIVERED, startPair } from "../support/sender.ts";

/** An address from a network for documentation. No machine has it. */
const NOBODYS = { ipv4: "192.0.2.1", ipv6: "2001:db8::1" };

for (const [address, source, seen] of [
  ["127.0.0.2", { ipv4: "127.0.0.7", ipv6: "::1" }, "127.0.0.7"],
  ["127.0.0.2", { ipv4: null, ipv6: "::1" }, "127.0.0.1"],
  ["::1", { ipv4: "127.0.0.7", ipv6: "::1" }, "::1"],
  ["::1", { ipv4: "127.0.0.7", ipv6: null }, "::1"],
] as const) {
  const from = source.ipv4 ?? source.ipv6;
  test(`with the source ${from}, a delivery to ${address} comes from ${seen}`, async (t) => {
    const { receiver, send } = await startPair(t, { address, source });
    assert.deepEqual(await send(), DELIVERED);
    const [connection] = receiver.connections;
    assert.equal(connection?.remoteAddress, seen);
  });
}

test("a lost source address is an internal fault, not a failure of the receiver", async (t) => {
  const { send } = await startPair(t, { source: NOBODYS });
  assert.deepEqual(await send(), { kind: "internal-fault", fault: "no_ports" });
  assert.equal(await createLocalChecks(NOBODYS).hasLostIpv6Source(), true);
  assert.equal(await createLocalChecks({ ipv4: null, ipv6: null }).hasLostIpv6Source(), false);
});
