import type { FastifyReply, FastifyRequest } from "fastify";
import type { IncomingMessage } from "node:http";
import { PartnerError, noSuch } from "../domain/errors.ts";
import { timesGiven } from "./raw-headers.ts";

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

/** Node keeps the first 2,000 headers, and drops the rest silently. */
const HEADERS_MAX = 1_000;
const HOST = /^[\w.~!$&'()*+,;=%:[\]-]*$/;

export type HostCheck = (request: FastifyRequest) => PartnerError | undefined;

/** Returns the fault of a request that its head shows before it reaches a route. `checkHost` checks its host. */
export function faultOfHead(
  request: FastifyRequest,
  reply: FastifyReply,
  checkHost: HostCheck,
): PartnerError | undefined {
  const fault = faultOfMessage(request.raw);
  if (fault !== undefined) {
    reply.raw.setHeader("connection", "close"); // A proxy may disagree about the end of this request.
    return fault;
  }
  // We ignore an upgrade, and Node's parser then drops the input behind it.
  if (request.raw.headers.upgrade !== undefined) reply.raw.setHeader("connection", "close");
  const misdirected = checkHost(request);
  if (misdirected || !request.is404) return misdirected;

  const allowed = METHODS.filter((method) => hasRoute(request, method));
  if (allowed.length === 0) return noSuch("resource");

  const methods = allowed.join(", ");
  reply.header("allow", methods);
  return new PartnerError("method_not_allowed", `Allowed methods: ${methods}.`);
}

/** Returns a fault that Node's parser accepts but that other parsers may read differently. */
function faultOfMessage(raw: IncomingMessage): PartnerError | undefined {
  const { httpVersion, headers, rawHeaders } = raw;
  if (rawHeaders.length > 2 * HEADERS_MAX) {
    return new PartnerError(
      "headers_too_large",
      `The request has more than ${HEADERS_MAX} headers.`,
    );
  }
  if (httpVersion !== "1.1" && httpVersion !== "1.0") {
    return new PartnerError("malformed_request", "Use HTTP/1.1.");
  }
  if (headers.host === undefined && httpVersion === "1.1") {
    return new PartnerError("malformed_request", "The Host header is missing.");
  }
  if (timesGiven(raw, "host") > 1 || !HOST.test(headers.host ?? "")) {
    return new PartnerError("malformed_request", "The Host header must name one host.");
  }
  const coding = headers["transfer-encoding"];
  const isKnown = coding === undefined || coding.toLowerCase() === "chunked";
  if (!isKnown || (coding !== undefined && httpVersion === "1.0")) {
    return new PartnerError(
      "malformed_request",
      "The only supported transfer coding is chunked, over HTTP/1.1.",
    );
  }
  return undefined;
}

function hasRoute({ server, url }: FastifyRequest, method: (typeof METHODS)[number]): boolean {
  return (server.findRoute({ method, url }) as object | null) !== null;
}
