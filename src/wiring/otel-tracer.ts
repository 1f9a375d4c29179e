import type * as Otel from "@opentelemetry/api";
import type { Attributes, Span, SpanKind, Tracer } from "../lib/tracing.ts";

/** The parts of `@opentelemetry/api` that are used. It is loaded only if spans are exported. */
type Api = Pick<typeof Otel, "trace" | "ROOT_CONTEXT" | "SpanKind" | "SpanStatusCode">;

/** Returns our tracer on one of OpenTelemetry. It registers nothing globally. */
export function createTracer(api: Api, otel: Otel.Tracer): Tracer {
  const { trace, ROOT_CONTEXT } = api;
  const kinds = {
    internal: api.SpanKind.INTERNAL,
    server: api.SpanKind.SERVER,
    client: api.SpanKind.CLIENT,
    producer: api.SpanKind.PRODUCER,
  } satisfies Record<SpanKind, Otel.SpanKind>;

  return {
    start: (name, { kind, parent, attributes }) => {
      const context =
        parent === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, contextOf(parent));
      return begin(name, kind, context, attributes);
    },
  };

  function begin(
    name: string,
    kind: SpanKind,
    context: Otel.Context,
    attributes: Attributes = {},
  ): Span {
    const span = otel.startSpan(name, { kind: kinds[kind], attributes }, context);
    const { traceId, spanId, traceFlags } = span.spanContext();
    let isOver = false;
    return {
      traceId,
      traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, "0")}`,
      child: (name, kind = "internal", attributes = {}) =>
        begin(name, kind, trace.setSpan(ROOT_CONTEXT, span), attributes),
      set: (attributes) => {
        span.setAttributes(attributes);
      },
      end: (error) => {
        if (isOver) return;
        isOver = true;
        if (error !== undefined) {
          span.setAttribute("error.type", error);
          span.setStatus({ code: api.SpanStatusCode.ERROR });
        }
        span.end();
      },
    };
  }
}

/** Reads what `traceparent` of a span gave. */
function contextOf(traceparent: string): Otel.SpanContext {
  const [, traceId = "", spanId = "", flags = ""] = traceparent.split("-");
  return { traceId, spanId, traceFlags: parseInt(flags, 16) & 1, isRemote: true };
}
