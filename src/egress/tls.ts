import { constants } from "node:crypto";
import type { Socket } from "node:net";
import {
  connect,
  createSecureContext,
  DEFAULT_CIPHERS,
  type SecureContext,
  type TLSSocket,
} from "node:tls";
import type { Destination } from "./destination.ts";

import type { Deadline } from "./post.ts";
import { outcomeOfError, PostFailed } from "./outcome.ts";

/** The server chooses the size of a finite field, and a handshake over 10,000 bits occupies our only thread for a second. */
const KEY_EXCHANGES = {
  ciphers: `${DEFAULT_CIPHERS}:!DHE`,
  ecdhCurve: "X25519:P-256:P-384:P-521",
};

/** Throws if an option of Node.js or the configuration of OpenSSL leaves no cipher or curve: no handshake could begin. */
export function requireKeyExchanges(): void {
  createSecureContext({ ...KEY_EXCHANGES, ca: [] }); // The roots of Node.js would take time.
}

/** The part of a context with which the option `ca` adds certificates itself. */
interface Native {
  addCACert: (pem: string) => void;
}

/** Call it once, because reading all root certificates takes longer than a post. */
export function trustedRoots(extraCa: string | undefined): SecureContext {
  const roots = createSecureContext({
    ...KEY_EXCHANGES,
    minVersion: "TLSv1.2", // Otherwise an option of Node.js could permit older versions.
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION, // Otherwise a receiver could repeat handshakes without end.
  });
  // The option `ca` would replace the certificates of NODE_EXTRA_CA_CERTS, --use-system-ca and --use-openssl-ca.
  if (extraCa !== undefined) (roots.context as Native).addCACert(extraCa);
  return roots;
}

/** Secures a connected socket by TLS. Accepts only a certificate for the destination's host. */
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
      servername: address === null ? host : "", // SNI carries no addresses (RFC 6066).
      rejectUnauthorized: true, // Explicit, because an environment variable changes the default.
      ALPNProtocols: ["http/1.1"],
      secureContext,
    });
    const fail = (why: PostFailed) => {
      secured.destroy();
      reject(why);
    };
    deadline.guard(fail);
    secured.on("error", (error) => {
      fail(new PostFailed(outcomeOfError(error, "handshake", secured.getProtocol()), error));
    });
    secured.once("secureConnect", () => {
      resolve(secured);
    });
  });
}
