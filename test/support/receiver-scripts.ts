import type { OutgoingHttpHeaders } from "node:http";
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import type { Script } from "./receiver.ts";

export function status(
  code: number,
  { headers = {}, body = "" }: { headers?: OutgoingHttpHeaders; body?: string | Buffer } = {},
): Script {
  return ({ response }) => response.writeHead(code, headers).end(body);
}

/** Takes the request and never answers. */
export const hang: Script = () => undefined;

/** Closes the connection the hard way. */
export const reset: Script = ({ received }) => received.connection.resetAndDestroy();

/** Closes the connection politely, without an answer. */
export const hangUp: Script = ({ socket }) => socket.end();

/** Asks for the handshake again, on the connection that has one (TLS 1.2 and before). */
export const renegotiate: Script = ({ socket }) => {
  if (socket instanceof TLSSocket) socket.renegotiate({}, () => undefined);
};

/** Writes these bytes unchanged and leaves the connection open. */
export function raw(...chunks: (string | Buffer)[]): Script {
  return ({ socket }) => {
    for (const chunk of chunks) socket.write(chunk, "latin1");
  };
}

/** These bytes, then the end of the connection. */
export function rawAndEnd(bytes: string): Script {
  return ({ socket }) => socket.end(bytes, "latin1");
}

/** These bytes, then a reset. */
export function rawAndReset(bytes: string): Script {
  return ({ socket, received }) => {
    socket.write(bytes, "latin1", () => received.connection.resetAndDestroy());
  };
}

/** The head, if any, at once; then these bytes one at a time, for as long as the connection lives. */
export function drip(bytes: string, everyMs: number, head = ""): Script {
  return ({ socket }) => {
    socket.write(head, "latin1");
    let sent = 0;
    const timer = setInterval(() => {
      const byte = bytes[sent++];
      if (byte === undefined) clearInterval(timer);
      else socket.write(byte, "latin1");
    }, everyMs);
    socket.once("close", () => {
      clearInterval(timer);
    });
  };
}

/** These bytes, then more and more of the others until the connection is gone. */
export function flood(head: string, more: string | Buffer): Script {
  return ({ socket }) => {
    socket.write(head, "latin1");
    pour(socket, more);
  };
}

/** Reset if this connection has brought a request before, as by a receiver that just let it go. */
export function resetWhenReused(otherwise: Script): Script {
  return (exchange) => {
    (exchange.received.requestsOnConnection > 1 ? reset : otherwise)(exchange);
  };
}

function pour(socket: Socket, bytes: string | Buffer): void {
  while (!socket.destroyed && socket.write(bytes, "latin1"));
  socket.once("drain", () => {
    pour(socket, bytes);
  });
}
