import {
  type FastifyBaseLogger,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from "fastify";
import { publicId } from "../domain/ids.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Which event it published; of a batch the first one. Null for any other request. */
    publishedEvent: string | null;
  }
  interface FastifyContextConfig {
    /** Asked every few seconds by a machine. Its lines would bury the others. */
    isProbe?: true;
  }
}

/** One line for each request: no address, no header, no body, and the route's pattern instead of the URL. */
export class RequestLog extends LogController {
  readonly #plain: FastifyBaseLogger;

  constructor(logger: FastifyBaseLogger) {
    super();
    // There is nothing to redact in a line without an error, and searching it would cost more than writing it.
    this.#plain = logger.child({}, { redact: [] });
  }

  override incomingRequest(): void {
    // The line that tells the outcome is enough.
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

  /** Its client did not wait for an answer. What it asked for may be done all the same. */
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
    operator: request.operator,
    event_id: request.publishedEvent ?? undefined,
    status,
  };
}
