import type { Config } from "../../src/config/config.ts";
import type { Tracing } from "../../src/config/tracing.ts";

export const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318" };

/** The configuration with only the collector's address. */
const tracing: Tracing = {
  url: "http://collector:4318/v1/traces",
  headers: {},
  timeoutMs: 10_000,
  isCompressed: false,
  files: { ca: null, cert: null, key: null },
  resource: { "service.name": "partner-api" },
  sampler: "parentbased_always_on",
  ratio: 1,
  batches: {
    scheduledDelayMillis: 5_000,
    exportTimeoutMillis: 30_000,
    maxQueueSize: 2_048,
    maxExportBatchSize: 512,
  },
  spanLimits: {
    attributeValueLengthLimit: null,
    attributeCountLimit: 128,
    eventCountLimit: 128,
    linkCountLimit: 128,
    attributePerEventCountLimit: 128,
    attributePerLinkCountLimit: 128,
  },
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
  [
    "OTEL_SERVICE_NAME",
    "api eu",
    { tracing: { ...tracing, resource: { "service.name": "api eu" } } },
    { ...ENDPOINT, OTEL_RESOURCE_ATTRIBUTES: "service.name=other" },
  ],
  [
    "OTEL_RESOURCE_ATTRIBUTES",
    " team = Zürich%2C ,labels=app=web,service.name=x%25,",
    {
      tracing: {
        ...tracing,
        resource: { "service.name": "x%", team: "Zürich,", labels: "app=web" },
      },
    },
    ENDPOINT,
  ],
  [
    "OTEL_TRACES_SAMPLER",
    "traceidratio",
    { tracing: { ...tracing, sampler: "traceidratio" } },
    ENDPOINT,
  ],
  ["OTEL_TRACES_SAMPLER_ARG", "0.25", { tracing: { ...tracing, ratio: 0.25 } }, ENDPOINT],
  ["TRACE_RECEIVERS", "true", { tracing: { ...tracing, tellsReceivers: true } }, ENDPOINT],
  ["OTEL_SERVICE_NAME", "api", { tracing: null }],
  ["OTEL_SDK_DISABLED", "TRUE", { tracing: null }, ENDPOINT],
  ["OTEL_SDK_DISABLED", "false", { tracing }, ENDPOINT],
  ["OTEL_TRACES_EXPORTER", "none", { tracing: null }, ENDPOINT],
  [
    "OTEL_TRACES_EXPORTER",
    "zipkin",
    {
      tracing: null,
      unfollowed: [
        "OTEL_TRACES_EXPORTER names no exporter that the service has (otlp): nothing is traced",
      ],
    },
    ENDPOINT,
  ],
  ["OTEL_TRACES_EXPORTER", "console, otlp", { tracing }, ENDPOINT],
  [
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "https://traces.example/in",
    { tracing: { ...tracing, url: "https://traces.example/in" } },
    ENDPOINT,
  ],
  ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://collector:4318/v1/traces", { tracing }],
  [
    "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
    "x-team=b",
    { tracing: { ...tracing, headers: { "x-all": "1", "x-team": "b" } } },
    { ...ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS: "x-team=a,x-all=1" },
  ],
  [
    "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
    "http/protobuf",
    { tracing },
    { ...ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" },
  ],
  ["OTEL_EXPORTER_OTLP_TIMEOUT", "2500", { tracing: { ...tracing, timeoutMs: 2_500 } }, ENDPOINT],
  // OpenTelemetry: 0 means no limit, and choices may be in any letter case.
  [
    "OTEL_EXPORTER_OTLP_TIMEOUT",
    "0",
    { tracing: { ...tracing, timeoutMs: 2 ** 31 - 1 } },
    ENDPOINT,
  ],
  [
    "OTEL_BSP_EXPORT_TIMEOUT",
    "0",
    {
      tracing: { ...tracing, batches: { ...tracing.batches, exportTimeoutMillis: 2 ** 31 - 1 } },
    },
    ENDPOINT,
  ],
  [
    "OTEL_TRACES_SAMPLER",
    "ALWAYS_OFF",
    { tracing: { ...tracing, sampler: "always_off" } },
    ENDPOINT,
  ],
  [
    "OTEL_EXPORTER_OTLP_COMPRESSION",
    "GZIP",
    { tracing: { ...tracing, isCompressed: true } },
    ENDPOINT,
  ],
  ["OTEL_EXPORTER_OTLP_PROTOCOL", "HTTP/Protobuf", { tracing }, ENDPOINT],
  ["OTEL_TRACES_EXPORTER", "OTLP", { tracing }, ENDPOINT],
  [
    "OTEL_EXPORTER_OTLP_TRACES_COMPRESSION",
    "gzip",
    { tracing: { ...tracing, isCompressed: true } },
    { ...ENDPOINT, OTEL_EXPORTER_OTLP_COMPRESSION: "none" },
  ],
  [
    "OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE",
    "/b.pem",
    { tracing: { ...tracing, files: { ca: "/b.pem", cert: null, key: null } } },
    { ...ENDPOINT, OTEL_EXPORTER_OTLP_CERTIFICATE: "/a.pem" },
  ],
  [
    "OTEL_BSP_MAX_QUEUE_SIZE",
    "100",
    {
      tracing: {
        ...tracing,
        batches: { ...tracing.batches, maxQueueSize: 100, maxExportBatchSize: 100 },
      },
    },
    ENDPOINT,
  ],
  [
    "OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT",
    "64",
    {
      tracing: { ...tracing, spanLimits: { ...tracing.spanLimits, attributeValueLengthLimit: 64 } },
    },
    { ...ENDPOINT, OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT: "128" },
  ],
];

/** Each of these variables changes one number. */
const NUMBERS: [name: string, settings: (value: number) => Partial<Tracing>][] = [
  ["OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", (timeoutMs) => ({ timeoutMs })],
  ...(
    [
      ["SCHEDULE_DELAY", "scheduledDelayMillis"],
      ["EXPORT_TIMEOUT", "exportTimeoutMillis"],
      ["MAX_EXPORT_BATCH_SIZE", "maxExportBatchSize"],
    ] as const
  ).map(
    ([name, member]) =>
      [
        `OTEL_BSP_${name}`,
        (value: number) => ({ batches: { ...tracing.batches, [member]: value } }),
      ] as [string, (value: number) => Partial<Tracing>],
  ),
  ...(
    [
      ["ATTRIBUTE_VALUE_LENGTH", ["attributeValueLengthLimit"]],
      [
        "ATTRIBUTE_COUNT",
        ["attributeCountLimit", "attributePerEventCountLimit", "attributePerLinkCountLimit"],
      ],
      ["SPAN_ATTRIBUTE_COUNT", ["attributeCountLimit"]],
      ["SPAN_EVENT_COUNT", ["eventCountLimit"]],
      ["SPAN_LINK_COUNT", ["linkCountLimit"]],
      ["EVENT_ATTRIBUTE_COUNT", ["attributePerEventCountLimit"]],
      ["LINK_ATTRIBUTE_COUNT", ["attributePerLinkCountLimit"]],
    ] as const
  ).map(
    ([name, members]) =>
      [
        `OTEL_${name}_LIMIT`,
        (value: number) => ({
          spanLimits: {
            ...tracing.spanLimits,
            ...Object.fromEntries(members.map((member) => [member, value])),
          },
        }),
      ] as [string, (value: number) => Partial<Tracing>],
  ),
];
for (const [name, settings] of NUMBERS) {
  GOOD_TRACING.push([name, "77", { tracing: { ...tracing, ...settings(77) } }, ENDPOINT]);
}

for (const [what, member] of [
  ["CERTIFICATE", "ca"],
  ["CLIENT_CERTIFICATE", "cert"],
  ["CLIENT_KEY", "key"],
] as const) {
  for (const name of [`OTEL_EXPORTER_OTLP_${what}`, `OTEL_EXPORTER_OTLP_TRACES_${what}`]) {
    const files = { ...tracing.files, [member]: "/a.pem" };
    GOOD_TRACING.push([name, "/a.pem", { tracing: { ...tracing, files } }, ENDPOINT]);
  }
}
GOOD_TRACING.push([
  "OTEL_EXPORTER_OTLP_COMPRESSION",
  "gzip",
  { tracing: { ...tracing, isCompressed: true } },
  ENDPOINT,
]);

/** Each stands beside the collector's address. */
export const BAD_TRACING: [string, string[], RegExp][] = [
  [
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    ["collector:4318", "grpc://c:4317", "http://u:p@c:4318", "http://c?a"],
    /the http or https URL of a collector/,
  ],
  ["OTEL_EXPORTER_OTLP_HEADERS", ["hunter2", "a=%zz", "a b=c", "a=%0A"], /entry 1 must be name=/],
  ["OTEL_RESOURCE_ATTRIBUTES", ["prod", "a=1,=2", "a=100%"], /a list of name=value, with commas/],
  ["OTEL_EXPORTER_OTLP_PROTOCOL", ["grpc", "http/json"], /one of http\/protobuf, not "/],
  ["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", ["grpc"], /one of http\/protobuf, not "grpc"/],
  ["OTEL_EXPORTER_OTLP_TIMEOUT", ["10s", "-1", "2147483648"], /an integer from 0 to 2147483647/],
  ["OTEL_EXPORTER_OTLP_COMPRESSION", ["zstd"], /one of gzip, none, not "zstd"/],
  ["OTEL_BSP_MAX_EXPORT_BATCH_SIZE", ["4096"], /must not be more than OTEL_BSP_MAX_QUEUE_SIZE/],
  ["OTEL_TRACES_SAMPLER", ["jaeger_remote"], /one of always_on, .*, not "/],
  ["OTEL_TRACES_SAMPLER_ARG", ["1.5", "-1", "half"], /a number from 0 to 1, not "/],
  ["TRACE_RECEIVERS", ["yes"], /one of true, false, not "yes"/],
];
