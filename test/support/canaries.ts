import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer, type Server } from "node:net";
import type { TestContext } from "node:test";
import { parseCidr } from "../../src/lib/ip-address.ts";
import type { AddressPolicy } from "../../src/egress/index.ts";
import { type Receiver, type ReceiverOptions, startReceiver } from "./receiver.ts";

const GUARDED = parseCidr("127.0.0.2/32");
assert.ok(GUARDED);

/** An operator writes this as `EGRESS_ALLOW=127.0.0.2/32`. */
export const ONLY_GUARDED: AddressPolicy = { allow: [GUARDED], deny: [] };

const CANARIES = ["127.0.0.1", "::1"];
const TRIES = 20;

/**
 * A receiver on 127.0.0.2 with canaries on the same port of 127.0.0.1 and ::1. The test fails if
 * anything ever connects to one of them.
 */
export async function startGuardedReceiver(
  t: TestContext,
  options: ReceiverOptions = {},
): Promise<Receiver> {
  for (let tries = 1; ; tries++) {
    const canaries = CANARIES.map(() => createServer());
    try {
      const port = await listenTogether(canaries);
      const receiver = await startReceiver(t, { ...options, port });
      watch(t, canaries);
      return receiver;
    } catch (error) {
      for (const canary of canaries) canary.close();
      const isTaken = (error as NodeJS.ErrnoException).code === "EADDRINUSE";
      if (!isTaken || tries === TRIES) throw error;
    }
  }
}

/** Opens them on one free port and returns it. */
async function listenTogether(canaries: Server[]): Promise<number> {
  let port = 0;
  for (const [index, canary] of canaries.entries()) {
    canary.listen(port, CANARIES[index]);
    await once(canary, "listening");
    ({ port } = canary.address() as AddressInfo);
  }
  return port;
}

function watch(t: TestContext, canaries: Server[]): void {
  let connections = 0;
  for (const canary of canaries) {
    canary.on("connection", (socket) => {
      connections++;
      socket.destroy();
    });
  }
  t.after(() => {
    for (const canary of canaries) canary.close();
    assert.equal(connections, 0, "somebody connected to loopback");
  });
}
