import { once } from "node:events";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout } from "node:timers/promises";
import type { LocalCertificates } from "./self-signed.ts";

/** How a receiver that simulates failures treats the attempts of each event. */
export interface Behaviour {
  /** The status of the response. Null: close the connection without one. */
  status: number | null;
  /** The time before the response. */
  delayMs: number;
  /** How many attempts of each event are treated so before the rest are accepted. May be Infinity. */
  attempts: number;
}

export const ACCEPTED = { status: 204, delayMs: 0 } as const satisfies Reply;

/** The reply to an attempt. The first attempt of an event is number 1. */
export function replyTo(attempt: number, { status, delayMs, attempts }: Behaviour): Reply {
  return attempt > attempts ? ACCEPTED : { status, delayMs };
}

/** Deliveries are much smaller. */
const BODY_MAX_BYTES = 4 * 1024 * 1024;

export interface Received {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  /** Name, value, name, value, … as sent. */
  rawHeaders: string[];
  /** The raw bytes, for verification. */
  body: Buffer;
}

export interface Reply {
  /** Null: close the connection without a response. */
  status: number | null;
  delayMs: number;
  /** Called if the sender closes the connection before the reply. */
  onGone?: () => void;
}

export interface ReceiverOptions {
  /** 0, the default: any free port. */
  port?: number;
  /**
   * Called if a connection brings no request. `code` comes from OpenSSL or the system. It is null
   * if the sender closed the connection, as senders do that do not trust the certificate.
   */
  onNoRequest?: (code: string | null) => void;
}

/** Starts an HTTPS receiver on the loopback interface, for trying out deliveries. */
export async function startReceiver(
  { key, cert }: LocalCertificates,
  reply: (received: Received) => Reply | Promise<Reply>,
  { port: wanted = 0, onNoRequest }: ReceiverOptions = {},
): Promise<{ url: string; close: () => Promise<void> }> {
  const used = new WeakSet<Socket>();
  const server = createServer({ key, cert }, (request, response) => {
    used.add(request.socket);
    // An aborted request is not a delivery.
    receive(request, response).catch(() => request.socket.destroy());
  });
  server.on("tlsClientError", (error: NodeJS.ErrnoException) => {
    onNoRequest?.(error.code ?? error.message);
  });
  server.on("secureConnection", (socket) => {
    socket.once("close", () => {
      if (!used.has(socket) && server.listening) onNoRequest?.(null);
    });
  });
  server.listen(wanted, "127.0.0.1");
  await once(server, "listening");

  const { port } = server.address() as AddressInfo;
  return {
    url: `https://localhost:${port}/hooks`,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };

  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "", url: path = "", headers, rawHeaders } = request;
    const body = await readBody(request);
    const { status, delayMs, onGone } = await reply({ method, path, headers, rawHeaders, body });
    const isThere = await hasWaited(delayMs, response);
    if (!server.listening) return;
    if (!isThere) onGone?.();
    else if (status === null) request.socket.destroy();
    else response.writeHead(status, { connection: "close" }).end(); // Each attempt gets a connection of its own.
  }
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > BODY_MAX_BYTES) throw new Error(`more than ${BODY_MAX_BYTES} bytes`);
  }
  return Buffer.concat(chunks);
}

/** Returns false if the sender closed the connection meanwhile. */
async function hasWaited(delayMs: number, response: ServerResponse): Promise<boolean> {
  if (delayMs === 0) return true;
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  try {
    await setTimeout(delayMs, undefined, { signal: gone.signal });
    return true;
  } catch {
    return false;
  }
}
