import { once } from "node:events";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { createServer, type TLSSocket } from "node:tls";
import { answer } from "../support/answer.ts";
import { monotonicMs } from "../support/monotonic.ts";

const END_OF_HEAD = "\r\n\r\n";
const REFUSAL = "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n";
const DRIP_MS = 1_000;
const OK = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

interface Count {
  /** Connections opened since the reset. */
  connections: number;
  requests: number;
  firstMs: number;
  lastMs: number;
}

const NOTHING: Count = { connections: 0, requests: 0, firstMs: 0, lastMs: 0 };

let count = { ...NOTHING };
/** The arrival of each event's first copy, if `note` is set. */
let noted: Map<string, number> | null = null;
let awaited: { requests: number; reached: () => void } | null = null;

/**
 * Answers each HTTPS request with 200, at once or as its path says (`/after/<ms>/…`, `/hang/…`, `/drip/…`,
 * `/reset/…`, `/refuse/…`), and counts requests. Implements only the HTTP that its senders need, because it
 * shares the cores with them.
 */
const questions = {
  start: async (options: { key: string; cert: string; address: string }): Promise<number> => {
    const { address, ...certificate } = options;
    const server = createServer({ ...certificate, noDelay: true }, serve);
    server.on("tlsClientError", () => undefined); // A stopping service aborts handshakes.
    server.listen(0, address);
    await once(server, "listening");
    return (server.address() as AddressInfo).port;
  },

  /** Accepts connections and never begins a handshake: resets them, or leaves them open. Returns the port. */
  startMute: async ({ address, resets }: { address: string; resets: boolean }): Promise<number> => {
    const server = createTcpServer((socket) => {
      socket.on("error", () => undefined);
      if (resets) socket.resetAndDestroy();
    });
    server.listen(0, address);
    await once(server, "listening");
    return (server.address() as AddressInfo).port;
  },

  /** Starts counting from zero. `note` also records the arrival of each event. */
  reset: ({ note = false }: { note?: boolean }): void => {
    count = { ...NOTHING };
    noted = note ? new Map() : null;
    awaited = null;
  },

  count: (): Count => count,

  /** Resolves when that many requests have arrived. */
  reached: async (requests: number): Promise<Count> => {
    if (count.requests < requests) {
      await new Promise<void>((reached) => (awaited = { requests, reached }));
    }
    return count;
  },

  noted: (): [string, number][] => [...(noted ?? [])],
};

export type Receiver = typeof questions;
answer(questions);

function serve(socket: TLSSocket): void {
  let text = "";
  count.connections++;
  socket.on("error", () => undefined);
  socket.on("data", (chunk: Buffer) => {
    text += chunk.toString("latin1");
    for (let end = endOfRequest(text); end !== -1; end = endOfRequest(text)) {
      take(socket, text.slice(0, end));
      text = text.slice(end);
    }
  });
}

/** The position where the first request ends, or -1 if it is incomplete. */
function endOfRequest(text: string): number {
  const head = text.indexOf(END_OF_HEAD);
  if (head === -1) return -1;
  const length = /\r\ncontent-length: *(\d+)/i.exec(text)?.[1] ?? "0";
  const end = head + END_OF_HEAD.length + Number(length);
  return end <= text.length ? end : -1;
}

function take(socket: TLSSocket, request: string): void {
  note(request);
  const [, behaviour = "", delayMs = "0"] = /^POST \/([a-z]+)\/(\d+)/.exec(request) ?? [];
  if (behaviour === "after") setTimeout(() => socket.write(OK), Number(delayMs));
  else if (behaviour === "drip") drip(socket);
  else if (behaviour === "refuse") socket.write(REFUSAL);
  else if (behaviour !== "hang") socket.write(OK);
}

/** Never ends the head of its answer. */
function drip(socket: TLSSocket): void {
  socket.write("HTTP/1.1 200 OK\r\nX-Drip: ");
  const timer = setInterval(() => socket.write("."), DRIP_MS);
  socket.on("close", () => {
    clearInterval(timer);
  });
}

function note(request: string): void {
  const now = monotonicMs();
  if (count.requests++ === 0) count.firstMs = now;
  count.lastMs = now;
  if (awaited?.requests === count.requests) awaited.reached();

  if (noted === null) return;
  const [, id = ""] = /"id":"(evt_[0-9a-f-]{36})"/.exec(request) ?? [];
  if (!noted.has(id)) noted.set(id, now);
}
