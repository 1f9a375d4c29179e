import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { verify } from "../../src/webhook/index.ts";
import { freePort } from "../support/free-port.ts";
import { ADMIN_TOKEN, runProgram, startProgram } from "../support/program.ts";
import { converse, rawRequest } from "../support/raw-http.ts";
import { startLocalReceiver } from "../support/receiver.ts";
import { status } from "../support/receiver-scripts.ts";
import { aPartner, aRig, call } from "../support/rig.ts";

/** What an operator, a platform or a supervisor sets for a whole fleet, at values that would do harm if they were followed blindly. */
const hostile = (proxy: string, folder: string) => ({
  TZ: "UTC+25", // PostgreSQL refuses a time of this zone.
  ...{ LANG: "tr_TR.UTF-8", LC_ALL: "tr_TR.UTF-8", LC_NUMERIC: "de_DE.UTF-8", LANGUAGE: "de" },
  ...{ HOME: "/nonexistent", TMPDIR: folder, PWD: "/nonexistent" },
  ...{ HTTP_PROXY: proxy, HTTPS_PROXY: proxy, ALL_PROXY: proxy, NO_PROXY: "example.com" },
  ...{ http_proxy: proxy, https_proxy: proxy, all_proxy: proxy, no_proxy: "example.com" },
  ...{ NODE_USE_ENV_PROXY: "1", NODE_TLS_REJECT_UNAUTHORIZED: "0", NODE_DEBUG: "http,net,tls" },
  NODE_OPTIONS: "--insecure-http-parser --max-http-header-size=200000 --use-openssl-ca",
  ...{ SSL_CERT_FILE: "/nonexistent", SSL_CERT_DIR: "/nonexistent" },
  SSLKEYLOGFILE: join(folder, "keys.log"),
  ...{ NOTIFY_SOCKET: "@nobody", WATCHDOG_USEC: "1000", WATCHDOG_PID: "1" },
  ...{ LISTEN_FDS: "1", LISTEN_PID: "1", LISTEN_FDNAMES: "x" },
  ...{ CREDENTIALS_DIRECTORY: "/nonexistent", STATE_DIRECTORY: "/nonexistent" },
  ...{ INVOCATION_ID: "0", JOURNAL_STREAM: "1:2", RUNTIME_DIRECTORY: "/nonexistent" },
  ...{ KUBERNETES_SERVICE_HOST: "10.0.0.1", KUBERNETES_PORT: "tcp://10.0.0.1:443" },
  ...{ PARTNER_API_PORT: "tcp://10.0.0.2:8080", PARTNER_API_SERVICE_HOST: "10.0.0.2" },
  ...{ POSTGRES_PORT: "tcp://10.0.0.3:5432", OTEL_COLLECTOR_PORT: "tcp://10.0.0.4:4318" },
  ...{ OTEL_METRICS_EXPORTER: "otlp", OTEL_LOGS_EXPORTER: "otlp", OTEL_PROPAGATORS: "b3" },
  ...{ OTEL_LOG_LEVEL: "debug", OTEL_CONFIG_FILE: "/nonexistent", OTEL_SDK_DISABLED: "true" },
});

const WARN = 40;

/** Each is followed, or the start says that it is not. */
const SAID = [
  "HTTP_PROXY, http_proxy, HTTPS_PROXY",
  "NODE_TLS_REJECT_UNAUTHORIZED is not followed",
  "NOTIFY_SOCKET is not followed",
  "WATCHDOG_USEC is not followed",
  "LISTEN_FDS is not followed",
  "OTEL_CONFIG_FILE, OTEL_LOGS_EXPORTER, OTEL_LOG_LEVEL, OTEL_METRICS_EXPORTER, OTEL_PROPAGATORS: not followed",
  "KUBERNETES_SERVICE_HOST",
];

test("the main path holds in the environment of a hostile fleet, and the start says what it does not follow", async (t) => {
  const rig = await aRig(t, { RETRY_DELAYS: "50ms" });
  const proxy = `http://127.0.0.1:${await freePort()}`;
  const program = await startProgram(t, { ...hostile(proxy, rig["DATA_DIR"] ?? ""), ...rig });
  const warnings = program.log.flatMap(({ level, msg }) => (level === WARN ? [String(msg)] : []));
  for (const said of SAID)
    assert.ok(
      warnings.some((line) => line.includes(said)),
      `${said}: ${warnings.join("\n")}`,
    );

  const partner = await aPartner(program, "acme");
  const receiver = await startLocalReceiver(t);
  const { body: made } = await partner.ask("/webhooks", {
    method: "POST",
    body: { url: receiver.url(), events: ["vc.test.ping"] },
  });
  const subscription = { id: String(made["id"]), secret: String(made["secret"]) };
  receiver.answer(status(500), status(204));
  await partner.ping(subscription);
  for (let attempt = 1; attempt <= 2; attempt++) {
    const { headers, body } = await receiver.next();
    const { verdict, event } = await verify({ secret: subscription.secret, headers, body });
    assert.equal(verdict, "valid");
    assertNow(event.occurred_at);
  }
  const { body: audit } = await partner.ask(`/webhooks/${subscription.id}/failures`);
  const [failure] = audit["items"] as Record<string, unknown>[];
  assert.equal(failure?.["http_status"], 500);
  assertNow(failure["attempted_at"]);
  for (const { time } of program.log) assertNow(time);

  const two = ["Host: a", "Content-Length: 5", "Transfer-Encoding: chunked"];
  const [refused] = await converse(
    program.partnerUrl,
    rawRequest("POST /api/v1/partner/webhooks HTTP/1.1", two, "0\r\n\r\n"),
  );
  assert.equal(refused?.status, 400, "no option of Node.js permits ambiguous requests");

  const overview = await call(`${program.operatorUrl}/api/v1/admin/overview`, {
    token: ADMIN_TOKEN,
  });
  assert.equal(overview.body["status"], "ok", JSON.stringify(overview.body));
  assert.equal(await program.end("SIGTERM"), 0);
  for (const secret of [ADMIN_TOKEN, subscription.secret])
    assert.ok(!program.complaint().includes(secret), "NODE_DEBUG shows no secret");
});

test("a list of ciphers with which no receiver could be reached stops the start, and doctor names it", async (t) => {
  const rig = await aRig(t);
  for (const cipher of ["AES257-SHA", "DHE-RSA-AES256-GCM-SHA384"]) {
    const env = { NODE_OPTIONS: `--tls-cipher-list=${cipher}` };
    const serving = await runProgram(["serve"], { ...rig, ...env, PORT: "0", OPERATOR_PORT: "0" });
    const says = /Node\.js cannot use TLS with receivers .*: correct its --tls-cipher-list/;
    assert.match(serving.stderr, says);
    assert.equal(serving.status, 1);
    const examined = await runProgram(["doctor"], { ...rig, ...env });
    assert.match(examined.stdout.replaceAll(/\s+/g, " "), says);
  }
});

test("a start by the cluster of another program, such as pm2, is refused with a sentence", async (t) => {
  const rig = await aRig(t);
  const { status: code, stderr } = await runProgram(["serve"], { ...rig, NODE_UNIQUE_ID: "1" });
  assert.deepEqual([code, /^error: a cluster of another program/m.test(stderr)], [1, true], stderr);
});

function assertNow(time: unknown): void {
  assert.match(String(time), /^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/);
  assert.ok(Math.abs(Date.now() - Date.parse(String(time))) < 600_000, String(time));
}
