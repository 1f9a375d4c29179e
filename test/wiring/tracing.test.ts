import assert from "node:assert/strict";
import { test } from "node:test";
import { ExportResultCode } from "@opentelemetry/core";
import type { SpanExporter } from "@opentelemetry/sdk-trace";
import { pino } from "pino";
import type { Tracing } from "../../src/config/tracing.ts";
import { NO_TRACER } from "../../src/lib/tracing.ts";
import { noteExports } from "../../src/wiring/span-exports.ts";
import { openTracing } from "../../src/wiring/tracing.ts";

const IDENTITY = { id: "00000000-0000-4000-8000-000000000001", version: "1.0.0" };
const SETTINGS: Tracing = {
  endpoint: "http://127.0.0.1:1",
  headers: {},
  serviceName: "partner-api",
  sampler: "parentbased_always_on",
  ratio: 1,
  tellsReceivers: false,
};

function aLog() {
  const messages: string[] = [];
  const log = pino(
    {},
    { write: (line) => messages.push((JSON.parse(line) as { msg: string }).msg) },
  );
  return { messages, log };
}

test("without an endpoint the SDK is not loaded", async () => {
  const { log } = aLog();
  const load = () => Promise.reject(new Error("loaded"));
  assert.equal((await openTracing(null, log, IDENTITY, load)).tracer, NO_TRACER);
});

test("a missing SDK is one log line, and nothing is traced", async () => {
  const { log, messages } = aLog();
  const missing = Object.assign(new Error("no such package"), { code: "ERR_MODULE_NOT_FOUND" });
  const { tracer } = await openTracing(SETTINGS, log, IDENTITY, () => Promise.reject(missing));
  assert.equal(tracer, NO_TRACER);
  assert.equal(messages.length, 1);
  assert.match(messages[0] ?? "", /OpenTelemetry SDK is not installed.*--include=optional/);
});

test("the samplers of OpenTelemetry decide about roots, and parent-based ones follow the caller", async () => {
  const { log } = aLog();
  const flags = async (sampler: Tracing["sampler"], parent: string | null) => {
    const { tracer, close } = await openTracing({ ...SETTINGS, sampler, ratio: 0 }, log, IDENTITY);
    const span = tracer.start("work", { kind: "internal", parent });
    await close();
    return span?.traceparent.slice(-2);
  };
  const sampled = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;
  assert.equal(await flags("always_off", sampled), "00");
  assert.equal(await flags("traceidratio", sampled), "00");
  assert.equal(await flags("parentbased_traceidratio", null), "00");
  assert.equal(await flags("parentbased_always_off", sampled), "01");
});

test("a collector that fails and recovers causes two log lines", () => {
  const { log, messages } = aLog();
  const refused = { code: ExportResultCode.FAILED, error: new Error("connection refused") };
  const taken = { code: ExportResultCode.SUCCESS };
  const results = [refused, refused, taken, taken];
  const exporter = noteExports(
    {
      export: (_spans: Parameters<SpanExporter["export"]>[0], done) =>
        done(results.shift() ?? taken),
      shutdown: () => Promise.resolve(),
    },
    log,
  );
  const codes: ExportResultCode[] = [];
  for (let i = 0; i < 4; i++) exporter.export([], ({ code }) => codes.push(code));
  const { FAILED, SUCCESS } = ExportResultCode;
  assert.deepEqual(codes, [FAILED, FAILED, SUCCESS, SUCCESS]);
  assert.deepEqual(messages, [
    "the collector does not accept spans: they are dropped",
    "the collector accepts spans again",
  ]);
});
