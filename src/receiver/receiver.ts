import { once } from "node:events";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout } from "node:timers/promises";
import type { LocalCertificates } from "./certificates.ts";

/** Far more than any delivery has. */
const BODY_MAX_BYTES = 4 * 1024 * 1024;

/** A delivery as it arrived. */
export interface Received {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  /** Name, value, name, value, … as they were sent. */
  rawHeaders: string[];
  /** The raw bytes, which alone can be verified. */
  body: Buffer;
}

export interface Reply {
  /** Null: none; the connection is ended instead. */
  status: number | null;
  delayMs: number;
  /** Called when the sender hangs up before that. */
  onGone?: () => void;
}

export interface ReceiverOptions {
  /** 0, the default: whichever is free. */
  port?: number;
  /**
   * Told when a connection brings no request. `code` is OpenSSL's or the system's; null: it was closed without a
   * word, as senders do that do not trust the certificate.
   */
  onNoRequest?: (code: string | null) => void;
}

/** Starts an HTTPS receiver on this machine's loopback, for trying deliveries out. */
export async function startReceiver(
  { key, cert }: LocalCertificates,
  reply: (received: Received) => Reply | Promise<Reply>,
  { port: wanted = 0, onNoRequest }: ReceiverOptions = {},
): Promise<{ url: string; close: () => Promise<void> }> {
  const used = new WeakSet<Socket>();
  const server = createServer({ key, cert }, (request, response) => {
    used.add(request.socket);
    // Whoever breaks off in mid-request has not delivered anything.
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
    else response.writeHead(status, { connection: "close" }).end(); // So that each attempt has one of its own.
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

/** False when the sender hung up meanwhile. */
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
