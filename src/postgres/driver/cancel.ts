import { connect } from "node:net";

/** What the server calls a session, and the secret that lets us cancel its work. */
export interface BackendKey {
  processID: number;
  secretKey: number;
}

const CANCEL_MS = 5_000;
const CANCEL_REQUEST = 80_877_102;

/**
 * Asks the server to end what a session does, over a connection of its own. A server does not notice that a client is
 * gone while it works, waits for a lock, or waits for its standby: until then it would hold its locks.
 */
export function requestCancel(host: string, port: number, key: BackendKey): void {
  const request = Buffer.alloc(16);
  request.writeInt32BE(request.length, 0);
  request.writeInt32BE(CANCEL_REQUEST, 4);
  request.writeInt32BE(key.processID, 8);
  request.writeInt32BE(key.secretKey, 12);

  const socket = host.startsWith("/") ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
  socket.on("error", () => undefined); // Then the server's own limits end it.
  socket.setTimeout(CANCEL_MS, () => socket.destroy());
  socket.unref().resume().end(request);
}
