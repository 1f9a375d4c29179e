import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { test, type TestContext } from "node:test";
import { TLSSocket } from "node:tls";
import { gunzipSync } from "node:zlib";
import { ExportResultCode } from "@opentelemetry/core";
import type { SpanExporter } from "@opentelemetry/sdk-trace";
import { pino } from "pino";
import { loadConfig } from "../../src/config/config.ts";
import type { Tracing } from "../../src/config/tracing.ts";
import { NO_TRACER } from "../../src/lib/tracing.ts";
import { noteExports, openTracing } from "../../src/observe/tracing.ts";
import { certificate, testAuthority } from "../support/certificates.ts";
import { aTemporaryFolder } from "../support/temporary-folder.ts";

const IDENTITY = { id: "00000000-0000-4000-8000-000000000001", version: "1.0.0" };
const SETTINGS = settingsOf({});

function settingsOf(env: Record<string, string>): Tracing {
  const { tracing } = loadConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1", ...env });
  assert.ok(tracing);
  return tracing;
}

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

test("spans go to the collector of the traces, compressed, with its headers and limits", async (t) => {
  const requests: { url: string; headers: IncomingHttpHeaders; text: string }[] = [];
  const collector = createServer((request, response) => {
    void buffer(request).then((body) => {
      const text = gunzipSync(body).toString("latin1");
      requests.push({ url: request.url ?? "", headers: request.headers, text });
      response.end();
    });
  });
  const port = await listening(t, collector);
  const settings = settingsOf({
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `http://127.0.0.1:${port}/in`,
    OTEL_EXPORTER_OTLP_HEADERS: "x-team=a,x-all=1",
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: "x-team=b",
    OTEL_EXPORTER_OTLP_COMPRESSION: "gzip",
    OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT: "4",
  });
  const { tracer, close } = await openTracing(settings, aLog().log, IDENTITY);
  tracer
    .start("work", { kind: "internal", parent: null, attributes: { place: "Weimarer" } })
    ?.end();
  await close();

  const [request] = requests;
  assert.equal(request?.url, "/in");
  assert.equal(request.headers["x-team"], "b");
  assert.equal(request.headers["x-all"], "1");
  assert.match(request.text, /Weim/);
  assert.doesNotMatch(request.text, /Weima/);
});

test("a file of the exporter that cannot be read stops the start", async () => {
  const settings = settingsOf({ OTEL_EXPORTER_OTLP_CERTIFICATE: "/nowhere.pem" });
  const opening = openTracing(settings, aLog().log, IDENTITY);
  await assert.rejects(opening, /OTEL_EXPORTER_OTLP_CERTIFICATE cannot be read: ENOENT/);
});

test("the exporter trusts the authority of OTEL_EXPORTER_OTLP_CERTIFICATE, and shows the client's certificate", async (t) => {
  const { cert: ca } = await testAuthority();
  const own = await certificate({ hosts: ["localhost"], addresses: ["127.0.0.1"], kind: "good" });
  const folder = await aTemporaryFolder(t);
  const files = { CERTIFICATE: ca, CLIENT_CERTIFICATE: own.cert, CLIENT_KEY: own.key };
  const env: Record<string, string> = {};
  for (const [what, pem] of Object.entries(files)) {
    env[`OTEL_EXPORTER_OTLP_${what}`] = join(folder, what);
    await writeFile(join(folder, what), pem);
  }
  let subject: unknown;
  const collector = createSecureServer(
    { ...own, requestCert: true, rejectUnauthorized: false },
    (request, response) => {
      assert.ok(request.socket instanceof TLSSocket);
      subject = request.socket.getPeerCertificate().subject.CN;
      response.end();
    },
  );
  const port = await listening(t, collector);
  const OTEL_EXPORTER_OTLP_ENDPOINT = `https://127.0.0.1:${port}`;
  const settings = settingsOf({ ...env, OTEL_EXPORTER_OTLP_ENDPOINT });
  const { tracer, close } = await openTracing(settings, aLog().log, IDENTITY);
  tracer.start("work", { kind: "internal", parent: null })?.end();
  await close();
  assert.equal(subject, "Test receiver");
});

async function listening(t: TestContext, server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  return (server.address() as AddressInfo).port;
}
