import type { Environment, Format } from "./environment.ts";
import { baseUrl, oneOf } from "./formats.ts";

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
  /** The collector's URL, without `/v1/traces`. */
  readonly endpoint: string;
  readonly headers: Record<string, string>;
  readonly serviceName: string;
  readonly sampler: (typeof SAMPLERS)[number];
  /** The share of traces that the samplers by ratio take. */
  readonly ratio: number;
  /** Whether receivers get `traceparent`. */
  readonly tellsReceivers: boolean;
}

/** Returns null without OTEL_EXPORTER_OTLP_ENDPOINT: then nothing is traced. */
export function readTracing(env: Environment): Tracing | null {
  const endpoint = env.value("OTEL_EXPORTER_OTLP_ENDPOINT", collector, null);
  const headers = env.list("OTEL_EXPORTER_OTLP_HEADERS", header, 100) ?? [];
  env.value("OTEL_EXPORTER_OTLP_PROTOCOL", oneOf(["http/protobuf"]), null);
  const serviceName = env.value("OTEL_SERVICE_NAME", name, "partner-api");
  const sampler = env.value("OTEL_TRACES_SAMPLER", oneOf(SAMPLERS), "parentbased_always_on");
  const ratio = env.value("OTEL_TRACES_SAMPLER_ARG", share, 1);
  const tellsReceivers = env.value("TRACE_RECEIVERS", oneOf(["true", "false"]), "false") === "true";
  env.rule(
    !tellsReceivers || endpoint !== null,
    ["TRACE_RECEIVERS", "OTEL_EXPORTER_OTLP_ENDPOINT"],
    "has no effect without OTEL_EXPORTER_OTLP_ENDPOINT",
  );
  if (endpoint === null) return null;
  const given = { headers: Object.fromEntries(headers), serviceName, sampler, ratio };
  return { endpoint, ...given, tellsReceivers };
}

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

const name: Format<string> = {
  parse: (text) => (text.length <= 255 ? text : null),
  mustBe: "at most 255 characters",
};

const share: Format<number> = {
  parse: (text) => (/^(?:0?\.\d{1,15}|[01](?:\.0*)?)$/.test(text) ? Number(text) : null),
  mustBe: "a number from 0 to 1",
  quotable: true,
};
