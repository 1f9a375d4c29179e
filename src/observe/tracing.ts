import { readFile } from "node:fs/promises";
import type * as Otel from "@opentelemetry/api";
import type * as Api from "@opentelemetry/api";
import type * as Exporter from "@opentelemetry/exporter-trace-otlp-proto";
import type * as Resources from "@opentelemetry/resources";
import type * as Trace from "@opentelemetry/sdk-trace";
import type { SpanExporter } from "@opentelemetry/sdk-trace";
import type { Logger } from "pino";
import type { Tracing } from "../config/tracing.ts";
import { within } from "../lib/parts.ts";
import {
  type Attributes,
  NO_TRACER,
  type Span,
  type SpanKind,
  type Tracer,
} from "../lib/tracing.ts";
import type { ProcessIdentity } from "../subjects/processes/sql.ts";

/** The parts of `@opentelemetry/api` that are used. It is loaded only if spans are exported. */
type OtelApi = Pick<typeof Otel, "trace" | "ROOT_CONTEXT" | "SpanKind" | "SpanStatusCode">;

/** Returns our tracer on one of OpenTelemetry. It registers nothing globally. */
function createTracer(api: OtelApi, otel: Otel.Tracer): Tracer {
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

/** Logs when the collector stops taking spans, and when it takes them again. */
export function noteExports(exporter: SpanExporter, log: Logger): SpanExporter {
  let isAway = false;
  return {
    export: (spans, done) => {
      exporter.export(spans, (result) => {
        const hasFailed = result.error !== undefined;
        if (hasFailed && !isAway) {
          const cause = result.error?.message;
          log.warn(
            { spans: spans.length, cause },
            "the collector does not accept spans: they are dropped",
          );
        }
        if (!hasFailed && isAway) log.info("the collector accepts spans again");
        isAway = hasFailed;
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
  };
}

interface OpenTracing {
  tracer: Tracer;
  /** Exports the remaining spans, within a short time. */
  close: () => Promise<void>;
}

/** How long a stop waits for the collector. */
const FLUSH_MS = 3_000;

interface Sdk {
  api: typeof Api;
  trace: typeof Trace;
  resources: typeof Resources;
  exporter: typeof Exporter;
}

const NOT_TRACED: OpenTracing = { tracer: NO_TRACER, close: () => Promise.resolve() };

/** Loads the OpenTelemetry SDK if spans are to be exported. Without the SDK the service runs, and traces nothing. */
export async function openTracing(
  settings: Tracing | null,
  log: Logger,
  { id, version }: Pick<ProcessIdentity, "id" | "version">,
  load = loadSdk,
): Promise<OpenTracing> {
  if (settings === null) return NOT_TRACED;
  const sdk = await load().catch((error: unknown) => {
    if (!isMissing(error)) throw error;
    log.warn(
      "OTEL_EXPORTER_OTLP_ENDPOINT is set, but the OpenTelemetry SDK is not installed: nothing is traced. " +
        "Install the optional dependencies (npm install --include=optional)",
    );
    return null;
  });
  if (sdk === null) return NOT_TRACED;

  const exporter = await openExporter(sdk, settings);
  const { defaultResource, resourceFromAttributes } = sdk.resources;
  const ours = { "service.version": version, "service.instance.id": id };
  const resource = defaultResource().merge(
    resourceFromAttributes({ ...ours, ...settings.resource }),
  );
  const provider = new sdk.trace.TracerProvider({
    resource,
    sampler: samplerOf(sdk, settings),
    spanLimits: {
      ...settings.spanLimits,
      attributeValueLengthLimit: settings.spanLimits.attributeValueLengthLimit ?? Infinity,
    },
    spanProcessors: [
      new sdk.trace.BatchSpanProcessor({
        exporter: noteExports(exporter, log),
        ...settings.batches,
      }),
    ],
  });
  return {
    tracer: createTracer(sdk.api, provider.getTracer("partner-api", version)),
    close: async () => {
      // Spans that the collector did not take by then are lost. The log has said that it is away.
      await within(FLUSH_MS, provider.shutdown()).catch(() => undefined);
    },
  };
}

async function openExporter({ exporter }: Sdk, settings: Tracing) {
  const { url, headers, timeoutMs, isCompressed, files } = settings;
  const [ca, cert, key] = await Promise.all([
    readPem("CERTIFICATE", files.ca),
    readPem("CLIENT_CERTIFICATE", files.cert),
    readPem("CLIENT_KEY", files.key),
  ]);
  // The exporter's enum of compressions is not exported.
  const options: object = {
    ...{ url, headers, timeoutMillis: timeoutMs },
    compression: isCompressed ? "gzip" : "none",
    httpAgentOptions: {
      keepAlive: true,
      ...(ca && { ca }),
      ...(cert && { cert }),
      ...(key && { key }),
    },
  };
  return new exporter.OTLPTraceExporter(options);
}

/** The exporter itself would continue without a file that it cannot read. */
async function readPem(what: string, path: string | null): Promise<string | null> {
  if (path === null) return null;
  return readFile(path, "utf8").catch((error: unknown) => {
    throw new Error(`OTEL_EXPORTER_OTLP_${what} cannot be read: ${(error as Error).message}`);
  });
}

async function loadSdk(): Promise<Sdk> {
  const [api, trace, resources, exporter] = await Promise.all([
    import("@opentelemetry/api"),
    import("@opentelemetry/sdk-trace"),
    import("@opentelemetry/resources"),
    import("@opentelemetry/exporter-trace-otlp-proto"),
  ]);
  return { api, trace, resources, exporter };
}

function samplerOf({ trace }: Sdk, { sampler, ratio }: Tracing) {
  const root = rootSamplerOf(trace, sampler, ratio);
  return sampler.startsWith("parentbased_") ? new trace.ParentBasedSampler({ root }) : root;
}

function rootSamplerOf(trace: Sdk["trace"], sampler: Tracing["sampler"], ratio: number) {
  if (sampler.endsWith("always_on")) return new trace.AlwaysOnSampler();
  if (sampler.endsWith("always_off")) return new trace.AlwaysOffSampler();
  return new trace.TraceIdRatioBasedSampler(ratio);
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND";
}
