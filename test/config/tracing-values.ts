import type { Config } from "../../src/config.ts";
import type { Tracing } from "../../src/config/tracing.ts";

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318" };

/** The configuration with only the collector's address. */
const tracing: Tracing = {
  endpoint: "http://collector:4318",
  headers: {},
  serviceName: "partner-api",
  sampler: "parentbased_always_on",
  ratio: 1,
  tellsReceivers: false,
};

export const GOOD_TRACING: [string, string, Partial<Config>, NodeJS.ProcessEnv?][] = [
  ["OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318/", { tracing }],
  [
    "OTEL_EXPORTER_OTLP_HEADERS",
    "Authorization=Basic%20dTpw,x-team = a",
    { tracing: { ...tracing, headers: { authorization: "Basic dTpw", "x-team": "a" } } },
    ENDPOINT,
  ],
  ["OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf", { tracing }, ENDPOINT],
  ["OTEL_SERVICE_NAME", "api eu", { tracing: { ...tracing, serviceName: "api eu" } }, ENDPOINT],
  [
    "OTEL_TRACES_SAMPLER",
    "traceidratio",
    { tracing: { ...tracing, sampler: "traceidratio" } },
    ENDPOINT,
  ],
  ["OTEL_TRACES_SAMPLER_ARG", "0.25", { tracing: { ...tracing, ratio: 0.25 } }, ENDPOINT],
  ["TRACE_RECEIVERS", "true", { tracing: { ...tracing, tellsReceivers: true } }, ENDPOINT],
  ["OTEL_SERVICE_NAME", "api", { tracing: null }],
];

export const BAD_TRACING: [string, string[], RegExp][] = [
  [
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    ["collector:4318", "grpc://c:4317", "http://u:p@c:4318", "http://c?a"],
    /the http or https URL of a collector/,
  ],
  ["OTEL_EXPORTER_OTLP_HEADERS", ["hunter2", "a=%zz", "a b=c", "a=%0A"], /entry 1 must be name=/],
  ["OTEL_EXPORTER_OTLP_PROTOCOL", ["grpc", "http/json"], /one of http\/protobuf, not "/],
  ["OTEL_TRACES_SAMPLER", ["jaeger_remote"], /one of always_on, .*, not "/],
  ["OTEL_TRACES_SAMPLER_ARG", ["1.5", "-1", "half"], /a number from 0 to 1, not "/],
  ["TRACE_RECEIVERS", ["yes"], /one of true, false, not "yes"/],
  ["TRACE_RECEIVERS", ["true"], /has no effect without OTEL_EXPORTER_OTLP_ENDPOINT/],
];
