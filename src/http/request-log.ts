import {
  type FastifyBaseLogger,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from "fastify";
import type { Caller } from "../domain/scope.ts";

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
    const caller = request.caller as Caller | undefined;
    (error ? request.log : this.#plain).info(
      {
        method: request.method,
        route: request.routeOptions.url ?? null,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime),
        request_id: request.id,
        key_id: caller?.keyId,
        ...(error ? { err: error } : {}),
      },
      "request",
    );
  }
}
