import { constants } from "node:crypto";
import type { Socket } from "node:net";
import {
  connect,
  createSecureContext,
  DEFAULT_CIPHERS,
  rootCertificates,
  type SecureContext,
  type TLSSocket,
} from "node:tls";
import type { Destination } from "../domain/destination-url.ts";
import { AttemptFailed } from "./attempt-failed.ts";
import type { Deadline } from "./deadline.ts";
import { outcomeOfHandshake } from "./outcome-of-error.ts";

/** Of prime fields the server names the size: a handshake over 10,000 bits takes a second of our only thread. */
const KEY_EXCHANGES = {
  ciphers: `${DEFAULT_CIPHERS}:!DHE`,
  ecdhCurve: "X25519:P-256:P-384:P-521",
};

/** Made once: reading all root certificates takes longer than an attempt. */
export function trustedRoots(extraCa: string | undefined): SecureContext {
  return createSecureContext({
    ...KEY_EXCHANGES,
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION, // Or a receiver could keep us at handshakes.
    ...(extraCa !== undefined && { ca: [...rootCertificates, extraCa] }),
  });
}

/** TLS over a connected socket, for the destination's own name or address and nobody else's. */
export async function handshake(
  socket: Socket,
  { host, address }: Pick<Destination, "host" | "address">,
  secureContext: SecureContext,
  deadline: Deadline,
): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const secured = connect({
      socket,
      host,
      servername: address === null ? host : "", // An address has no place in SNI (RFC 6066).
      rejectUnauthorized: true, // Said aloud, or an environment variable could turn it off.
      ALPNProtocols: ["http/1.1"],
      secureContext,
    });
    const fail = (why: AttemptFailed) => {
      secured.destroy();
      reject(why);
    };
    deadline.guard(fail);
    secured.on("error", (error) => {
      fail(new AttemptFailed(outcomeOfHandshake(error), error));
    });
    secured.once("secureConnect", () => {
      resolve(secured);
    });
  });
}
