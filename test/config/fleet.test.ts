import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { loadConfig } from "../../src/config/config.ts";
import { askHereDirectly, findUnfollowed } from "../../src/config/fleet.ts";
import { loadGatewayConfig } from "../../src/gateway/config.ts";
import { warningsOf } from "../../src/config/warnings.ts";
import { USES_PROXIES } from "../support/env-proxy.ts";
import { ROOT } from "../support/root.ts";
import { faultsOf } from "./defaults.ts";

const PROGRAM = join(ROOT, "bin/partner-api.js");

const warnings = (env: Record<string, string>) =>
  warningsOf(loadConfig(env)).map(({ message }) => message);

/** Variables of a fleet that mean nothing here, or that are followed. */
const QUIET: Record<string, string> = {
  OTEL_METRICS_EXPORTER: "none",
  OTEL_LOGS_EXPORTER: "none",
  OTEL_PROPAGATORS: "tracecontext, baggage",
  OTEL_RESOURCE_ATTRIBUTES: "deployment.environment=prod",
  OTEL_SERVICE_NAME: "partner-api",
  OTEL_COLLECTOR_SERVICE_HOST: "10.0.0.7",
  OTEL_COLLECTOR_SERVICE_PORT_OTLP: "4318",
  OTEL_COLLECTOR_PORT: "tcp://10.0.0.7:4318",
  OTEL_COLLECTOR_PORT_4318_TCP_ADDR: "10.0.0.7",
  PARTNER_API_PORT: "tcp://10.0.0.8:8080",
  PARTNER_API_SERVICE_HOST: "10.0.0.8",
  PARTNER_API_SERVICE_PORT: "8080",
  PARTNER_API_PORT_8080_TCP: "tcp://10.0.0.8:8080",
  POSTGRES_PORT: "tcp://10.0.0.9:5432",
  POSTGRES_SERVICE_HOST: "10.0.0.9",
  NODE_EXTRA_CA_CERTS: "/etc/ssl/fleet.pem",
  NODE_OPTIONS: "--max-old-space-size=512",
  NODE_ENV: "production",
  NO_PROXY: "localhost",
  no_proxy: "localhost",
  INVOCATION_ID: "0123",
  JOURNAL_STREAM: "8:1234",
  CREDENTIALS_DIRECTORY: "/run/credentials/partner-api.service",
  LOGS_DIRECTORY: "/var/log/partner-api",
  TZ: "Asia/Kathmandu",
  LANG: "de_DE.UTF-8",
  LC_ALL: "tr_TR.UTF-8",
  CI: "true",
  NO_COLOR: "1",
  FORCE_COLOR: "1",
  TMPDIR: "/tmp",
};

test("variables of a fleet that the service follows, or that concern others, cause no warning", () => {
  assert.deepEqual(warnings(QUIET), []);
  for (const [name, value] of Object.entries(QUIET))
    assert.deepEqual(warnings({ [name]: value }), [], name);
  assert.deepEqual(warnings({ HTTPS_PROXY: "", OTEL_LOG_LEVEL: " " }), []);
});

const LOUD: [env: Record<string, string>, says: RegExp][] = [
  [
    { DATABASE_URL_FILE: "/run/secrets/database" },
    /^DATABASE_URL_FILE is not read: set DATABASE_URL to the content of the file$/,
  ],
  [
    { K_SERVICE: "partner-api", HOST: "0.0.0.0", BASE_URL: "https://partners.example.com" },
    /^neither DATABASE_URL nor DATA_DIR is set: the platform \(K_SERVICE is set\) may remove/,
  ],
  [{ HTTPS_PROXY: "http://u:hunter2@proxy:3128" }, /^HTTPS_PROXY: not followed.*without a proxy$/],
  [
    { http_proxy: "http://p", ALL_PROXY: "socks5://p" },
    /^ALL_PROXY.*http_proxy|^http_proxy, ALL_PROXY/,
  ],
  [
    { OTEL_LOG_LEVEL: "debug", OTEL_METRICS_EXPORTER: "otlp" },
    /^OTEL_LOG_LEVEL, OTEL_METRICS_EXPORTER: not followed/,
  ],
  [{ OTEL_CONFIG_FILE: "/etc/otel.yaml" }, /^OTEL_CONFIG_FILE: not followed/],
  [{ OTEL_PROPAGATORS: "b3" }, /^OTEL_PROPAGATORS: not followed/],
  [
    { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: "http://c" },
    /^OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: not/,
  ],
  [{ OTEL_TRACES_EXPORTER: "console" }, /^OTEL_TRACES_EXPORTER names no exporter/],
  [
    { NODE_TLS_REJECT_UNAUTHORIZED: "0" },
    /^NODE_TLS_REJECT_UNAUTHORIZED is not followed for receivers and the database/,
  ],
  [{ SSL_CERT_FILE: "/etc/ssl/cert.pem" }, /^SSL_CERT_FILE is read only with --use-openssl-ca/],
  [{ NOTIFY_SOCKET: "/run/systemd/notify" }, /^NOTIFY_SOCKET is not followed.*Type=exec/],
  [{ WATCHDOG_USEC: "30000000" }, /^WATCHDOG_USEC is not followed/],
  [{ LISTEN_FDS: "1" }, /^LISTEN_FDS is not followed/],
  [{ STATE_DIRECTORY: "/var/lib/partner" }, /^STATE_DIRECTORY is not read: set DATA_DIR/],
  [{ OPERATOR_PORT: "tcp://10.0.0.1:80" }, /^OPERATOR_PORT is ignored: it is a service link/],
  [
    { PORT: "8080", DYNO: "web.1", DATABASE_URL: "postgres:///d" },
    /^HOST is 127\.0\.0\.1: the platform \(DYNO is set\) cannot reach/,
  ],
];

for (const [env, says] of LOUD) {
  test(`a start says that it does not follow ${Object.keys(env).join(" and ")}`, () => {
    const said = warnings(env);
    assert.equal(said.length, 1, said.join("\n"));
    assert.match(said[0] ?? "", says);
    assert.doesNotMatch(said.join(), /hunter2/);
  });
}

test("settings that make a variable of a fleet good cause no warning", () => {
  const NODE_OPTIONS = "--use-openssl-ca";
  assert.deepEqual(warnings({ SSL_CERT_FILE: "/etc/ssl/cert.pem", NODE_OPTIONS }), []);
  assert.deepEqual(findUnfollowed({ SSL_CERT_DIR: "/etc/ssl" }, [], ["--use-system-ca"]), []);
  assert.deepEqual(warnings({ STATE_DIRECTORY: "/var/lib/p", DATA_DIR: "/var/lib/p" }), []);
  assert.deepEqual(
    warnings({
      ...{ DYNO: "web.1", HOST: "0.0.0.0", BASE_URL: "https://partners.example.com" },
      DATA_DIR: "/volume",
    }),
    [],
  );
  const kubernetes = { KUBERNETES_SERVICE_HOST: "10.0.0.1", DATABASE_URL: "postgres:///d" };
  assert.deepEqual(warnings({ ...kubernetes, ROLE: "dispatcher" }), []);
});

test("gateway and bridge name what they do not follow, and nothing that concerns the service alone", () => {
  const gateway = (env: Record<string, string>) =>
    loadGatewayConfig({ ADMIN_TOKEN: "t".repeat(32), CELLS: "00=http://127.0.0.1:1", ...env })
      .unfollowed;
  for (const [name, value] of Object.entries(QUIET))
    if (!/^OTEL_(?:RESOURCE|SERVICE)/.test(name))
      assert.deepEqual(gateway({ [name]: value }), [], name);
  assert.deepEqual(gateway({ OTEL_SDK_DISABLED: "True", OTEL_TRACES_EXPORTER: "none" }), []);
  assert.deepEqual(
    gateway({ NODE_TLS_REJECT_UNAUTHORIZED: "0", STATE_DIRECTORY: "/var/lib/x" }),
    [],
  );
  const OTEL_EXPORTER_OTLP_ENDPOINT = "http://collector:4318";
  const said = gateway({
    OTEL_EXPORTER_OTLP_ENDPOINT,
    HTTPS_PROXY: "http://p",
    NOTIFY_SOCKET: "@n",
  });
  assert.match(
    said.join("\n"),
    /^OTEL_EXPORTER_OTLP_ENDPOINT: not.*\nHTTPS_PROXY: not.*\nNOTIFY_SOCKET is not/,
  );

  const bridge = (env: Record<string, string>) => findUnfollowed(env, ["PARTNER_API_URL"], []);
  assert.match(bridge({ HTTPS_PROXY: "http://p" }).join(), /^HTTPS_PROXY: not followed/);
  const proxies = { HTTPS_PROXY: "http://p", all_proxy: "http://q" };
  for (const on of [{ NODE_USE_ENV_PROXY: "1" }, { NODE_OPTIONS: "--use-env-proxy" }]) {
    const said = findUnfollowed({ ...proxies, ...on }, ["PARTNER_API_URL"]).join();
    assert.match(said, USES_PROXIES ? /^all_proxy: not/ : /^HTTPS_PROXY, all_proxy: not/);
  }
});

test("where Node.js uses the proxies of the environment, requests to this machine pass them by", () => {
  const noProxy = (given: NodeJS.ProcessEnv) => {
    const env = { ...given };
    askHereDirectly(env, ["--use-env-proxy"]);
    return env["no_proxy"];
  };
  const here = "localhost,127.0.0.1,::1,[::1]";
  if (USES_PROXIES) {
    assert.equal(noProxy({}), `,${here}`);
    assert.equal(noProxy({ NO_PROXY: "a.example" }), `a.example,${here}`);
    assert.equal(noProxy({ NO_PROXY: "a.example", no_proxy: "b.example" }), `b.example,${here}`);
  } else assert.equal(noProxy({}), undefined);
  const env = { HTTP_PROXY: "http://p" };
  askHereDirectly(env, []);
  assert.deepEqual(env, { HTTP_PROXY: "http://p" });
});

test("a service link of Kubernetes is no port, and any other text is a fault", () => {
  assert.equal(loadConfig({ OPERATOR_PORT: "tcp://10.0.0.1:80" }).operatorPort, 8081);
  assert.match(faultsOf({ OPERATOR_PORT: "http://10.0.0.1:80" }).join(), /^OPERATOR_PORT must be/);
});

test("an option of Node.js with which the service cannot work is a fault among the others", () => {
  const options =
    "--disallow-code-generation-from-strings --enable-source-maps --frozen-intrinsics";
  assert.deepEqual(faultsOf({ NODE_OPTIONS: options, ROLE: "none" }).slice(1), [
    "Node.js must not run with --disallow-code-generation-from-strings: the service cannot work then",
    "Node.js must not run with --frozen-intrinsics: the service cannot work then",
  ]);
});

test("with the permissions of Node.js, event types need the one for threads", () => {
  const EVENT_TYPES = "/types";
  const NODE_OPTIONS = "--permission --allow-fs-read=*";
  assert.match(faultsOf({ EVENT_TYPES, NODE_OPTIONS }).join(), /^Node\.js .* needs --allow-worker/);
  assert.deepEqual(faultsOf({ NODE_OPTIONS }), []);
  assert.deepEqual(faultsOf({ EVENT_TYPES, NODE_OPTIONS: `${NODE_OPTIONS} --allow-worker` }), []);
});

test("a fleet's wish for the native driver of PostgreSQL, which is not installed, ends no command", async () => {
  const env = { ...process.env, NODE_PG_FORCE_NATIVE: "1" };
  const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, "--help"], { env });
  assert.match(stdout, /serve/);
});

test("an option of Node.js with which nothing can be loaded is named before anything is loaded", async () => {
  const env = { ...process.env, NODE_OPTIONS: "--jitless" };
  const run = promisify(execFile)(process.execPath, [PROGRAM, "--version"], { env });
  await assert.rejects(run, ({ stderr }: { stderr: string }) => {
    assert.match(stderr, /^partner-api must not run with --jitless of Node\.js/m);
    assert.doesNotMatch(stderr, /\n {4}at /);
    return true;
  });
});
