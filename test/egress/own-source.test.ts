import assert from "node:assert/strict";
import { test } from "node:test";
import { requireEgressSource } from "../../src/start/egress.ts";

test("an EGRESS_SOURCE that this machine does not have stops the start", async () => {
  await requireEgressSource({ egressSource: { ipv4: null, ipv6: null } });
  await requireEgressSource({ egressSource: { ipv4: "127.0.0.2", ipv6: "::1" } });
  await assert.rejects(requireEgressSource({ egressSource: { ipv4: "192.0.2.1", ipv6: null } }), {
    message: "EGRESS_SOURCE: this machine does not have the address 192.0.2.1",
  });
  await assert.rejects(
    requireEgressSource({ egressSource: { ipv4: "127.0.0.2", ipv6: "2001:db8::1" } }),
    /does not have the address 2001:db8::1/,
  );
});
