import type { FastifyReply, FastifyRequest } from "fastify";
import { publicId } from "../domain/ids.ts";
import { parseTraceparent } from "../domain/traceparent.ts";
import { inSpans, NO_TRACER, type Span, type Tracer } from "../lib/tracing.ts";
import type { App } from "./app.ts";

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
