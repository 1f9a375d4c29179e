import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer, type TLSSocket } from "node:tls";
import { answer } from "../support/answer.ts";
import { monotonicMs } from "../support/monotonic.ts";

const END_OF_HEAD = "\r\n\r\n";
const OK = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

interface Count {
  /** Those that were made since the reset. */
  connections: number;
  requests: number;
  firstMs: number;
  lastMs: number;
}

const NOTHING: Count = { connections: 0, requests: 0, firstMs: 0, lastMs: 0 };

let count = { ...NOTHING };
/** When each event came for the first time, while that is noted. */
let noted: Map<string, number> | null = null;
let awaited: { requests: number; reached: () => void } | null = null;

/**
 * Answers each HTTPS request with 200 at once, or as late as its path (`/after/<ms>/…`) says, and counts them.
 * It knows as much of HTTP as its senders need, so that it takes little from the cores that all share.
 */
const questions = {
  start: async (options: { key: string; cert: string; address: string }): Promise<number> => {
    const { address, ...certificate } = options;
    const server = createServer({ ...certificate, noDelay: true }, serve);
    server.on("tlsClientError", () => undefined); // A service that is stopped breaks off what it can.
    server.listen(0, address);
    await once(server, "listening");
    return (server.address() as AddressInfo).port;
  },

  /** Counts from zero; `note` keeps the time of each event too. */
  reset: ({ note = false }: { note?: boolean }): void => {
    count = { ...NOTHING };
    noted = note ? new Map() : null;
    awaited = null;
  },

  count: (): Count => count,

  /** Answers once that many requests have come. */
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

/** Where the first request ends, or -1 while it is not complete. */
function endOfRequest(text: string): number {
  const head = text.indexOf(END_OF_HEAD);
  if (head === -1) return -1;
  const length = /\r\ncontent-length: *(\d+)/i.exec(text)?.[1] ?? "0";
  const end = head + END_OF_HEAD.length + Number(length);
  return end <= text.length ? end : -1;
}

function take(socket: TLSSocket, request: string): void {
  note(request);
  const [, delayMs] = /^POST \/after\/(\d+)\//.exec(request) ?? [];
  if (delayMs === undefined) {
    socket.write(OK);
  } else {
    setTimeout(() => socket.write(OK), Number(delayMs));
  }
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
