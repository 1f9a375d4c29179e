import { connect } from "node:net";
import type { EgressSource } from "./egress-source.ts";
import { codeOf } from "../lib/code-of.ts";
import type { LocalChecks } from "./outcome-of-error.ts";
import { hasLostIpv4, readOwnNetwork } from "./routes.ts";

/** Examines this machine through the source addresses of deliveries. */
export function createLocalChecks({ ipv4, ipv6 }: EgressSource): LocalChecks {
  return {
    hasLostIpv4: async () => hasLostIpv4(await readOwnNetwork()),
    hasPorts: () => hasPorts("127.0.0.1", ipv4),
    hasLostIpv6Source: async () => ipv6 !== null && !(await hasPorts("::1", ipv6)),
  };
}

/** No service listens at this port. A refused connection takes a local port, too. */
const NOBODYS_PORT = 1;

async function hasPorts(host: string, source: string | null): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port: NOBODYS_PORT, localAddress: source ?? undefined });
    socket.once("error", (error) => resolve(codeOf(error) !== "EADDRNOTAVAIL"));
    setImmediate(() => {
      resolve(true); // If the system has no port, it says so at once.
      socket.destroy();
    });
  });
}
