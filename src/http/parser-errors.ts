import type { Socket } from "node:net";
import { systemClock } from "../domain/clock.ts";
import { type ErrorCode, PartnerError } from "../domain/errors.ts";
import { randomId } from "../domain/ids.ts";
import { HEAD_BYTES_MAX } from "./limits.ts";
import { problemHeaders, PROBLEMS, toProblem } from "./problem.ts";
import { standardHeaders } from "./standard-headers.ts";
import type { Turns } from "./turns.ts";

/** How long a client may take to read the answer to an unreadable request. */
const LINGER_MS = 2_000;

const NOT_HTTP = ["malformed_request", "The request is not valid HTTP."] as const;

/** Node's parser errors in our words. */
const PARSER = new Map<string | undefined, readonly [ErrorCode, string]>([
  ["ERR_HTTP_REQUEST_TIMEOUT", ["request_timeout", "The request did not arrive in time."]],
  [
    "HPE_HEADER_OVERFLOW",
    ["headers_too_large", `The headers must not exceed ${HEAD_BYTES_MAX / 1024} KiB.`],
  ],
  [
    "HPE_CHUNK_EXTENSIONS_OVERFLOW",
    ["payload_too_large", "The body's chunk extensions are too long."],
  ],
]);

/** Answers input that is not HTTP, or is too slow or too large to become a request, in the shape of every other error. */
export function createParserErrorHandler(
  baseUrl: () => string,
  turns: Turns,
): (error: Error & { code?: string }, socket: Socket) => void {
  const reported = new WeakSet<Socket>();
  return (error, socket) => {
    if (error.code === "ECONNRESET" || !socket.writable) {
      if (!socket.writableEnded) socket.destroy();
      return;
    }
    // Nothing after the first error can be a request, but Node reports each further piece.
    if (reported.has(socket)) return;
    reported.add(socket);
    turns.takeLast(socket, () => {
      if (socket.writable) answer(socket, toPartnerError(error.code), baseUrl());
    });
  };
}

/** Answers on the bare connection and closes it, with time for the client to read. */
export function answer(socket: Socket, error: PartnerError, baseUrl: string): void {
  const requestId = randomId();
  const { status, title } = PROBLEMS[error.code];
  const body = JSON.stringify(toProblem(error, baseUrl, requestId));
  const headers = {
    ...standardHeaders(requestId),
    ...problemHeaders(error),
    date: systemClock().toUTCString(), // As in Node's own answers.
    "content-length": String(Buffer.byteLength(body)),
    connection: "close",
  };
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${title}\r\n${head.join("")}\r\n${body}`);

  socket.on("error", () => undefined); // The client may have gone, and the socket has no other listener.
  const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.once("close", () => {
    clearTimeout(timer);
  });
}

function toPartnerError(code: string | undefined): PartnerError {
  const [known, detail] = PARSER.get(code) ?? NOT_HTTP;
  return new PartnerError(known, detail);
}
