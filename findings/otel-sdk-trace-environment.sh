#!/usr/bin/env bash
# npm @opentelemetry/sdk-trace 2.12.1 with @opentelemetry/exporter-trace-otlp-proto 0.223.1, on Node.js 20 or newer.
#
# One would expect that a program which builds a TracerProvider with a BatchSpanProcessor and an OTLP exporter follows OpenTelemetry's
# general variables, because the exporter of the same program follows OTEL_EXPORTER_OTLP_ENDPOINT and _HEADERS.
#
# What happens: OTEL_SDK_DISABLED=true, OTEL_BSP_MAX_QUEUE_SIZE, OTEL_BSP_SCHEDULE_DELAY and OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT do
# nothing. An OTEL_EXPORTER_OTLP_CERTIFICATE that cannot be read is ignored without a word (a warning exists, but only for programs that
# set a diagnostic logger), so spans of a collector with an authority of its own fail later, far from the cause.
#
# Seen: {"posts":1,"attribute":"abcdef","queue":2048,"delay":5000}
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error \
  @opentelemetry/sdk-trace@2.12.1 @opentelemetry/exporter-trace-otlp-proto@0.223.1 @opentelemetry/api@1.9.1 >/dev/null

cat >spans.mjs <<'PROGRAM'
import { createServer } from "node:http";
import exporters from "@opentelemetry/exporter-trace-otlp-proto";
import sdk from "@opentelemetry/sdk-trace";

let posts = 0;
const collector = createServer((request, response) => {
  request.resume();
  posts++;
  response.end();
}).listen(0, "127.0.0.1");
await new Promise((resolve) => collector.once("listening", resolve));
process.env.OTEL_EXPORTER_OTLP_ENDPOINT = `http://127.0.0.1:${collector.address().port}`;

const processor = new sdk.BatchSpanProcessor({ exporter: new exporters.OTLPTraceExporter() });
const provider = new sdk.TracerProvider({ spanProcessors: [processor] });
const span = provider.getTracer("finding").startSpan("work", { attributes: { place: "abcdef" } });
span.end();
await provider.forceFlush();
const { _maxQueueSize: queue, _scheduledDelayMillis: delay } = processor;
console.log(JSON.stringify({ posts, attribute: span.attributes.place, queue, delay }));
await provider.shutdown();
collector.close();
PROGRAM

export OTEL_SDK_DISABLED=true OTEL_BSP_MAX_QUEUE_SIZE=7 OTEL_BSP_SCHEDULE_DELAY=50
export OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT=3 OTEL_EXPORTER_OTLP_CERTIFICATE=/nowhere.pem
seen=$(node spans.mjs 2>&1)
echo "@opentelemetry/sdk-trace 2.12.1, Node.js $(node --version)"
echo "$seen"
[ "$seen" = '{"posts":1,"attribute":"abcdef","queue":2048,"delay":5000}' ]
