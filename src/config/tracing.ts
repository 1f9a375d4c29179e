import { baseUrl, type Environment, type Format, integer, oneOf, path } from "./settings.ts";

const SAMPLERS = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
] as const;

/** Where spans are exported to, and which. The variables are those of OpenTelemetry. */
export interface Tracing {
  /** The URL to which spans are sent. */
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly timeoutMs: number;
  readonly isCompressed: boolean;
  /** Files in PEM. Null: the authorities that Node.js trusts, and no certificate of the client. */
  readonly files: {
    readonly ca: string | null;
    readonly cert: string | null;
    readonly key: string | null;
  };
  /** What each span says of its process, `service.name` included. */
  readonly resource: Record<string, string>;
  readonly sampler: (typeof SAMPLERS)[number];
  /** The share of traces that the samplers by ratio take. */
  readonly ratio: number;
  readonly batches: {
    readonly scheduledDelayMillis: number;
    readonly exportTimeoutMillis: number;
    readonly maxQueueSize: number;
    readonly maxExportBatchSize: number;
  };
  readonly spanLimits: {
    /** Null: unlimited. */
    readonly attributeValueLengthLimit: number | null;
    readonly attributeCountLimit: number;
    readonly eventCountLimit: number;
    readonly linkCountLimit: number;
    readonly attributePerEventCountLimit: number;
    readonly attributePerLinkCountLimit: number;
  };
  /** Whether receivers get `traceparent`. */
  readonly tellsReceivers: boolean;
}

/**
 * Returns null if no spans are exported: without an endpoint, or if OpenTelemetry is switched off. What a fleet sets besides is
 * then no fault.
 */
export function readTracing(env: Environment): Tracing | null {
  const isOff = env.value("OTEL_SDK_DISABLED", anyText, "").toLowerCase() === "true";
  const exporters = env.value("OTEL_TRACES_EXPORTER", anyText, "otlp").toLowerCase();
  const hasEndpoint = ENDPOINTS.map((name) => env.isSet(name)).includes(true);
  const tellsReceivers = env.value("TRACE_RECEIVERS", oneOf(["true", "false"]), "false") === "true";
  env.rule(
    !tellsReceivers || hasEndpoint,
    ["TRACE_RECEIVERS"],
    "has no effect without OTEL_EXPORTER_OTLP_ENDPOINT",
  );
  const isOn = hasEndpoint && !isOff && exporters.split(/\s*,\s*/).includes("otlp");
  const settings = readSettings(isOn ? env : env.withoutFaults());
  return isOn && settings !== null ? { ...settings, tellsReceivers } : null;
}

const ENDPOINTS = ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"];

/** Returns null without a usable endpoint. */
function readSettings(env: Environment): Omit<Tracing, "tellsReceivers"> | null {
  const url = readUrl(env);
  const headers = [
    ...(env.list("OTEL_EXPORTER_OTLP_HEADERS", header, 100) ?? []),
    ...(env.list("OTEL_EXPORTER_OTLP_TRACES_HEADERS", header, 100) ?? []),
  ];
  requireProtocol(env);
  const settings = {
    headers: Object.fromEntries(headers),
    resource: readResource(env),
    sampler: env.value("OTEL_TRACES_SAMPLER", choice(SAMPLERS), "parentbased_always_on"),
    ratio: env.value("OTEL_TRACES_SAMPLER_ARG", share, 1),
    ...readExport(env),
    batches: readBatches(env),
    spanLimits: readLimits(env),
  };
  return url === null ? null : { url, ...settings };
}

function readResource(env: Environment): Tracing["resource"] {
  const others = env.value("OTEL_RESOURCE_ATTRIBUTES", attributes, {});
  const serviceName = env.value("OTEL_SERVICE_NAME", name, null);
  return {
    "service.name": "partner-api",
    ...others,
    ...(serviceName !== null && { "service.name": serviceName }),
  };
}

function readUrl(env: Environment): string | null {
  const endpoint = env.value("OTEL_EXPORTER_OTLP_ENDPOINT", collector, null);
  const ofTraces = env.value("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", baseUrl, null);
  return ofTraces ?? (endpoint === null ? null : `${endpoint}/v1/traces`);
}

function requireProtocol(env: Environment): void {
  const ofTraces = env.value("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", choice(["http/protobuf"]), null);
  const format = ofTraces === null ? choice(["http/protobuf"]) : anyText;
  env.value("OTEL_EXPORTER_OTLP_PROTOCOL", format, null);
}

/** A variable for traces alone replaces the general one. */
function readExport(env: Environment): Pick<Tracing, "timeoutMs" | "isCompressed" | "files"> {
  const either = <T, F>(what: string, format: Format<T>, fallback: F) => {
    const general = env.value(`OTEL_EXPORTER_OTLP_${what}`, format, fallback);
    return env.value(`OTEL_EXPORTER_OTLP_TRACES_${what}`, format, general);
  };
  return {
    timeoutMs: either("TIMEOUT", timeout, 10_000),
    isCompressed: either("COMPRESSION", choice(["gzip", "none"]), "none") === "gzip",
    files: {
      ca: either("CERTIFICATE", path, null),
      cert: either("CLIENT_CERTIFICATE", path, null),
      key: either("CLIENT_KEY", path, null),
    },
  };
}

function readBatches(env: Environment): Tracing["batches"] {
  const maxQueueSize = env.value("OTEL_BSP_MAX_QUEUE_SIZE", integer(1, 1_000_000), 2_048);
  const maxExportBatchSize = env.value(
    "OTEL_BSP_MAX_EXPORT_BATCH_SIZE",
    integer(1, 1_000_000),
    Math.min(512, maxQueueSize),
  );
  env.rule(
    maxExportBatchSize <= maxQueueSize,
    ["OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "OTEL_BSP_MAX_QUEUE_SIZE"],
    "must not be more than OTEL_BSP_MAX_QUEUE_SIZE",
  );
  return {
    scheduledDelayMillis: env.value("OTEL_BSP_SCHEDULE_DELAY", integer(0, INT_MAX), 5_000),
    exportTimeoutMillis: env.value("OTEL_BSP_EXPORT_TIMEOUT", timeout, 30_000),
    maxQueueSize,
    maxExportBatchSize,
  };
}

function readLimits(env: Environment): Tracing["spanLimits"] {
  const limit = <F>(name: string, fallback: F) =>
    env.value(`OTEL_${name}_LIMIT`, integer(0, INT_MAX), fallback);
  const count = limit("ATTRIBUTE_COUNT", 128);
  return {
    attributeValueLengthLimit: limit(
      "SPAN_ATTRIBUTE_VALUE_LENGTH",
      limit("ATTRIBUTE_VALUE_LENGTH", null),
    ),
    attributeCountLimit: limit("SPAN_ATTRIBUTE_COUNT", count),
    eventCountLimit: limit("SPAN_EVENT_COUNT", 128),
    linkCountLimit: limit("SPAN_LINK_COUNT", 128),
    attributePerEventCountLimit: limit("EVENT_ATTRIBUTE_COUNT", count),
    attributePerLinkCountLimit: limit("LINK_ATTRIBUTE_COUNT", count),
  };
}

/** The largest integer that OpenTelemetry asks for, and the longest time of a timer. */
const INT_MAX = 2 ** 31 - 1;

const milliseconds = integer(0, INT_MAX);

/** 0: no limit. */
const timeout: Format<number> = {
  ...milliseconds,
  parse: (text) => {
    const ms = milliseconds.parse(text);
    return ms === 0 ? INT_MAX : ms;
  },
};

/** OpenTelemetry reads its choices in any letter case. */
function choice<T extends string>(choices: readonly T[]): Format<T> {
  const format = oneOf(choices);
  return { ...format, parse: (text) => format.parse(text.toLowerCase()) };
}

const anyText: Format<string> = { parse: (text) => text, mustBe: "a text" };

const collector: Format<string> = {
  parse: (text) => baseUrl.parse(text.replace(/\/$/, "")),
  mustBe: "the http or https URL of a collector, without user, query and fragment",
};

const header: Format<[name: string, value: string]> = {
  parse: (text) => {
    const [, name = "", value = ""] = /^([\w!#$%&'*+.^`|~-]+)\s*=\s*([!-~ ]*)$/.exec(text) ?? [];
    const decoded = decode(value);
    return name === "" || decoded === null ? null : [name.toLowerCase(), decoded];
  },
  mustBe: "name=value, with the value percent-encoded",
};

function decode(text: string): string | null {
  try {
    const decoded = decodeURIComponent(text);
    return /^[\t -~]*$/.test(decoded) ? decoded : null;
  } catch {
    return null;
  }
}

/** The SDK would leave out all of them, without a word, if one is faulty. Empty entries are usual. */
const attributes: Format<Record<string, string>> = {
  parse: (text) => {
    const entries = text.split(",").filter((entry) => entry.trim() !== "");
    const pairs = entries.map((entry) => attribute(entry));
    return pairs.every((pair) => pair !== null) ? Object.fromEntries(pairs) : null;
  },
  mustBe: "a list of name=value, with commas and percent signs in them percent-encoded",
};

function attribute(entry: string): [name: string, value: string] | null {
  const [, name = "", value = ""] = /^\s*([^=]*[^=\s])\s*=\s*(.*?)\s*$/s.exec(entry) ?? [];
  try {
    return name === "" ? null : [decodeURIComponent(name), decodeURIComponent(value)];
  } catch {
    return null;
  }
}

const name: Format<string> = {
  parse: (text) => (text.length <= 255 ? text : null),
  mustBe: "at most 255 characters",
};

const share: Format<number> = {
  parse: (text) => (/^(?:0?\.\d{1,15}|[01](?:\.0*)?)$/.test(text) ? Number(text) : null),
  mustBe: "a number from 0 to 1",
  quotable: true,
};
