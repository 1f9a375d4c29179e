import type { Socket } from "node:net";
import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import { systemClock } from "../lib/clock.ts";
import { Busy, Crowded, type ErrorCode, invalidRequest, PartnerError } from "../lib/errors.ts";
import { randomId } from "../lib/ids.ts";
import { isCrowded, isUnavailable } from "../postgres/database.ts";
import { HEAD_BYTES_MAX } from "./app.ts";
import { standardHeaders } from "./headers.ts";
import { faultsOf, problemHeaders, PROBLEMS, toProblem } from "./problem.ts";
import type { Pipelines } from "./pipelining.ts";

const NO_SUCH_RESOURCE = "There is no such resource.";
const NO_BODY = "The body is missing: send JSON.";
const NOT_JSON = "The body is not valid JSON.";

/** The framework's errors in our words. */
const FRAMEWORK = new Map<string, [ErrorCode, string]>([
  ["FST_ERR_BAD_URL", ["not_found", NO_SUCH_RESOURCE]],
  ["FST_ERR_MAX_PARAM_LENGTH", ["not_found", NO_SUCH_RESOURCE]],
  ["FST_ERR_CTP_INVALID_MEDIA_TYPE", ["unsupported_media_type", "Send application/json."]],
  ["FST_ERR_CTP_EMPTY_JSON_BODY", ["malformed_request", NO_BODY]],
  ["FST_ERR_CTP_INVALID_JSON_BODY", ["malformed_request", NOT_JSON]],
  [
    "FST_ERR_CTP_INVALID_CONTENT_LENGTH",
    ["malformed_request", "The length of the body differs from Content-Length."],
  ],
]);

type ErrorHandler = (error: unknown, request: FastifyRequest, reply: FastifyReply) => void;

/**
 * Returns a handler that answers any error with a problem. It logs internal errors in full, and answers them in general terms.
 */
export function createErrorHandler(
  baseUrl: () => string,
  onUnavailable?: (error: unknown) => void,
): ErrorHandler {
  return function sendError(thrown, request, reply) {
    const error = toPartnerError(thrown, request);
    if (error.code === "internal") {
      const { method, routeOptions } = request;
      const facts = { err: thrown, request_id: request.id, method, route: routeOptions.url };
      request.log.error(facts, "request failed");
    } else if (error.code === "unavailable") {
      if (error instanceof Busy) onUnavailable?.(thrown);
      request.log.debug({ err: thrown, request_id: request.id }, "request refused");
    }

    keepConnection(reply);
    const problem = toProblem(error, baseUrl(), request.id);
    // As bytes, because the framework would add a charset to the media type of text.
    void reply
      .code(PROBLEMS[error.code].status)
      .headers(problemHeaders(error))
      .send(Buffer.from(JSON.stringify(problem)));
  };
}

function toPartnerError(thrown: unknown, request: FastifyRequest): PartnerError {
  if (thrown instanceof PartnerError) return thrown;

  const { code, validation, validationContext, statusCode } = thrown as Partial<FastifyError>;
  if (validationContext === "body" && request.body === undefined) {
    return new PartnerError("malformed_request", NO_BODY);
  }
  if (validation) return invalidRequest(faultsOf(validation));

  const [known, detail] = FRAMEWORK.get(code ?? "") ?? [];
  if (known !== undefined && detail !== undefined) return new PartnerError(known, detail);
  if (code === "FST_ERR_CTP_BODY_TOO_LARGE") return tooLarge(request);
  if (statusCode === 400) return new PartnerError("malformed_request", "The body is incomplete.");
  if (isCrowded(thrown)) return new Crowded();
  if (isUnavailable(thrown)) return new Busy();
  return new PartnerError("internal", "An internal error occurred.");
}

function tooLarge({ routeOptions }: FastifyRequest): PartnerError {
  const max = `${routeOptions.bodyLimit / 1024} KiB`;
  return new PartnerError("payload_too_large", `A body must not exceed ${max}.`);
}

/**
 * The framework closes the connection when it refuses a body. If the rest of the body still arrives, that reset may overtake
 * the answer. So we keep the connection, and Node reads and discards the rest. A server that is closing does close it.
 */
function keepConnection(reply: FastifyReply): void {
  if (reply.raw.hasHeader("connection") || !reply.hasHeader("connection")) return;
  reply.header("connection", reply.raw.shouldKeepAlive ? "keep-alive" : "close");
}

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
  pipelines: Pipelines,
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
    pipelines.takeLast(socket, () => {
      if (socket.writable) answer(socket, ofParser(error.code), baseUrl());
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

function ofParser(code: string | undefined): PartnerError {
  const [known, detail] = PARSER.get(code) ?? NOT_HTTP;
  return new PartnerError(known, detail);
}
