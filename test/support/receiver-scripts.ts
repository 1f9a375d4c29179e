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

/** Answers when as many requests are in flight. */
export function together(count: number, answer: Script): Script {
  const held: Parameters<Script>[0][] = [];
  return (exchange) => {
    held.push(exchange);
    if (held.length === count) held.splice(0).forEach(answer);
  };
}

/** Reads the request and never answers. */
export const hang: Script = () => undefined;

/** Resets the connection. */
export const reset: Script = ({ received }) => received.connection.resetAndDestroy();

/** Ends the connection without an answer. */
export const hangUp: Script = ({ socket }) => socket.end();

/** Requests a second handshake on the same connection (TLS 1.2 and before). */
export const renegotiate: Script = ({ socket }) => {
  if (socket instanceof TLSSocket) socket.renegotiate({}, () => undefined);
};

/** Writes these bytes unchanged and leaves the connection open. */
export function raw(...chunks: (string | Buffer)[]): Script {
  return ({ socket }) => {
    for (const chunk of chunks) socket.write(chunk, "latin1");
  };
}

/** Sends these bytes and then ends the connection. */
export function rawAndEnd(bytes: string): Script {
  return ({ socket }) => socket.end(bytes, "latin1");
}

/** Sends these bytes and then resets the connection. */
export function rawAndReset(bytes: string): Script {
  return ({ socket, received }) => {
    socket.write(bytes, "latin1", () => received.connection.resetAndDestroy());
  };
}

/** Sends the head, if any, at once. Then sends these bytes one at a time until the connection ends. */
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

/** Sends these bytes, then repeats the others until the connection ends. */
export function flood(head: string, more: string | Buffer): Script {
  return ({ socket }) => {
    socket.write(head, "latin1");
    pour(socket, more);
  };
}

/** Resets a connection that has already had a request, like a receiver that has just closed it. */
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
