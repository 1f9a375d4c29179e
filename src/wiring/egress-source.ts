import { once } from "node:events";
import { createServer } from "node:net";
import type { Config } from "../config.ts";

/** Throws if this machine does not have the source addresses of the settings. */
export async function requireEgressSource({
  egressSource: { ipv4, ipv6 },
}: Pick<Config, "egressSource">): Promise<void> {
  for (const address of [ipv4, ipv6]) {
    if (address !== null && !(await isOwnAddress(address))) {
      throw new Error(`EGRESS_SOURCE: this machine does not have the address ${address}`);
    }
  }
}

async function isOwnAddress(address: string): Promise<boolean> {
  const probe = createServer();
  try {
    await once(probe.listen({ host: address, port: 0 }), "listening");
    return true;
  } catch {
    return false;
  } finally {
    probe.close();
  }
}
