import type { FastifyReply, FastifyRequest } from "fastify";
import { PartnerError } from "../domain/errors.ts";

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

/** What is wrong with a request before it reaches a route, as far as its head tells. */
export function faultOfHead(
  request: FastifyRequest,
  reply: FastifyReply,
): PartnerError | undefined {
  const { raw } = request;
  if (raw.headers.host === undefined && raw.httpVersion === "1.1") {
    return new PartnerError("malformed_request", "The Host header is missing.");
  }
  if (!request.is404) return undefined;

  const allowed = METHODS.filter((method) => hasRoute(request, method));
  if (allowed.length === 0) return new PartnerError("not_found", "There is no such resource.");

  const methods = allowed.join(", ");
  reply.header("allow", methods);
  return new PartnerError("method_not_allowed", `This resource knows ${methods} alone.`);
}

function hasRoute({ server, url }: FastifyRequest, method: (typeof METHODS)[number]): boolean {
  return (server.findRoute({ method, url }) as object | null) !== null;
}
