import { connect } from "node:net";
import type { EgressSource } from "../domain/egress-source.ts";
import { codeOf, type OwnSide } from "./outcome-of-error.ts";
import { hasLostIpv4, readOwnNetwork } from "./routes.ts";

/** The machine that we run on, asked by way of the addresses that we send from. */
export function createOwnSide({ ipv4, ipv6 }: EgressSource): OwnSide {
  return {
    hasLostIpv4: async () => hasLostIpv4(await readOwnNetwork()),
    hasPorts: () => hasPorts("127.0.0.1", ipv4),
    hasLostIpv6Source: async () => ipv6 !== null && !(await hasPorts("::1", ipv6)),
  };
}

/** No service listens there, but to be refused takes a port, too. */
const NOBODYS_PORT = 1;

async function hasPorts(host: string, source: string | null): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port: NOBODYS_PORT, localAddress: source ?? undefined });
    socket.once("error", (error) => resolve(codeOf(error) !== "EADDRNOTAVAIL"));
    setImmediate(() => {
      resolve(true); // The system refuses a port at once, or not at all.
      socket.destroy();
    });
  });
}
