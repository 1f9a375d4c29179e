import {
  type FastifyBaseLogger,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from "fastify";
import { publicId } from "../lib/ids.ts";
import { parseTraceparent } from "../lib/traceparent.ts";
import { inSpans, NO_TRACER, type Span, type Tracer } from "../lib/tracing.ts";
import type { App } from "./app.ts";

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

declare module "fastify" {
  interface FastifyRequest {
    /** Null if the request is not traced. */
    span: Span | null;
  }
  interface FastifyContextConfig {
    /** The caller's `traceparent` is honoured, because the request publishes. */
    continuesTrace?: true;
    /** The request may last for hours. */
    isStream?: true;
  }
}

/** Makes a span of each request, and the statements that it runs a part of that span. Probes and streams are not traced. */
export function traceRequests(app: App, tracer: Tracer): void {
  app.decorateRequest("span", null);
  if (tracer === NO_TRACER) return;

  app.addHook("onRequest", (request, _reply, done) => {
    const { url: route, config } = request.routeOptions;
    if (config.isProbe || config.isStream) {
      done();
      return;
    }
    const name = route === undefined ? request.method : `${request.method} ${route}`;
    const given = config.continuesTrace ? request.headers["traceparent"] : undefined;
    request.span = tracer.start(name, { kind: "server", parent: parseTraceparent(given) });
    request.span?.set({ "http.request.method": request.method, "http.route": route });
    enter(request, done);
  });
  // The events by which a body arrives belong to the connection.
  app.addHook("preValidation", (request, _reply, done) => {
    enter(request, done);
  });
  app.addHook("onResponse", (request, reply, done) => {
    endRequestSpan(request, reply.statusCode);
    done();
  });
}

function enter({ span }: FastifyRequest, done: () => void): void {
  if (span === null) done();
  else inSpans([span], done);
}

/** `status`: null if the client did not wait for the answer. */
export function endRequestSpan(
  request: FastifyRequest,
  status: FastifyReply["statusCode"] | null,
): void {
  const { span, caller, publishedEvent } = request;
  if (span === null) return;
  span.set({
    "http.response.status_code": status ?? undefined,
    "messaging.message.id": publishedEvent ?? undefined,
    "partner_api.request_id": request.id,
    "partner_api.organization_id": caller ? publicId("org", caller.organizationId) : undefined,
  });
  if (status === null) span.end("abandoned");
  else span.end(status >= 500 ? String(status) : undefined);
}
