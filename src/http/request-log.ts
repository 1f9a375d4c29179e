import {
  type FastifyBaseLogger,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from "fastify";
import { publicId } from "../domain/ids.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** The event that it published, or the first one of a batch. Null for any other request. */
    publishedEvent: string | null;
  }
  interface FastifyContextConfig {
    /** Machines request it every few seconds. Its lines would hide the others. */
    isProbe?: true;
  }
}

/** Logs one line for each request: without address, headers and body, and with the route's pattern instead of the URL. */
export class RequestLog extends LogController {
  readonly #plain: FastifyBaseLogger;

  constructor(logger: FastifyBaseLogger) {
    super();
    // A line without an error holds nothing to redact, and the search would cost more than the line.
    this.#plain = logger.child({}, { redact: [] });
  }

  override incomingRequest(): void {
    // The line with the outcome is enough.
  }

  override requestCompleted(
    error: Error | null | undefined,
    request: FastifyRequest,
    reply: FastifyReply,
  ): void {
    const facts = factsOf(request, reply, reply.statusCode);
    if (error) request.log.info({ ...facts, err: error }, "request");
    else if (request.routeOptions.config.isProbe) this.#plain.debug(facts, "request");
    else this.#plain.info(facts, "request");
  }

  /** Logs a request whose client did not wait for the answer. Its work may be done all the same. */
  requestAbandoned(request: FastifyRequest, reply: FastifyReply): void {
    this.#plain.info(factsOf(request, reply, null), "request");
  }
}

function factsOf(request: FastifyRequest, reply: FastifyReply, status: number | null) {
  const { caller } = request;
  return {
    method: request.method,
    route: request.routeOptions.url ?? null,
    ms: Math.round(reply.elapsedTime),
    request_id: request.id,
    key_id: caller?.keyId,
    organization_id: caller === null ? undefined : publicId("org", caller.organizationId),
    operator: request.operator ?? undefined,
    event_id: request.publishedEvent ?? undefined,
    trace_id: request.span?.traceId,
    status,
  };
}
