import { connect } from "node:net";
import { codeOf, type OwnSide } from "./outcome-of-error.ts";
import { hasLostIpv4, readOwnNetwork } from "./routes.ts";

/** The machine that we run on. */
export const OWN_SIDE: OwnSide = {
  hasLostIpv4: async () => hasLostIpv4(await readOwnNetwork()),
  hasPorts,
};

/** No service listens there, but to be refused takes a port, too. */
const PROBE = { host: "127.0.0.1", port: 1 };

async function hasPorts(): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(PROBE);
    socket.once("error", (error) => resolve(codeOf(error) !== "EADDRNOTAVAIL"));
    setImmediate(() => {
      resolve(true); // The system refuses a port at once, or not at all.
      socket.destroy();
    });
  });
}
