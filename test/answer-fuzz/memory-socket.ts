import { Duplex } from "node:stream";
import type { TLSSocket } from "node:tls";

/** A connection in memory. What is pushed into it is what the receiver sends. */
export function memorySocket(): TLSSocket {
  const duplex = new Duplex({
    read: () => undefined,
    write: (_chunk, _encoding, written) => {
      written();
    },
  });
  const nothing = () => duplex;
  const ofSockets = { setTimeout: nothing, setKeepAlive: nothing, ref: nothing, unref: nothing };
  return Object.assign(duplex, ofSockets) as unknown as TLSSocket;
}

/** By then a socket hands on at once what is pushed into it, and what follows from that is done. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
