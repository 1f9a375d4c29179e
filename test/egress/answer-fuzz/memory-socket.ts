import { Duplex } from "node:stream";
import type { TLSSocket } from "node:tls";

/** A connection in memory. The test pushes the receiver's bytes. */
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

/** Waits until the socket has passed on all pushed data and its listeners have run. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
