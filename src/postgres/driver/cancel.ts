import { connect } from "node:net";

/** The server's id of a session, and the secret that allows us to cancel its work. */
export interface BackendKey {
  processID: number;
  secretKey: number;
}

const CANCEL_MS = 5_000;
const CANCEL_REQUEST = 80_877_102;

/**
 * Asks the server to cancel a session's statement, over a new connection. A server that works, or waits for a lock or its
 * standby, does not notice that the client is gone, and would keep its locks.
 */
export function requestCancel(host: string, port: number, key: BackendKey): void {
  const request = Buffer.alloc(16);
  request.writeInt32BE(request.length, 0);
  request.writeInt32BE(CANCEL_REQUEST, 4);
  request.writeInt32BE(key.processID, 8);
  request.writeInt32BE(key.secretKey, 12);

  const socket = host.startsWith("/") ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
  socket.on("error", () => undefined); // The server's own limits end the statement instead.
  socket.setTimeout(CANCEL_MS, () => socket.destroy());
  socket.unref().resume().end(request);
}
