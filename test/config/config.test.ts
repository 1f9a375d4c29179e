import assert from "node:assert/strict";
import { test } from "node:test";
import { type Config, configurationNames, loadConfig } from "../../src/config/config.ts";
import { parseCidr } from "../../src/lib/ip-address.ts";
import { defaults, faultsOf } from "./defaults.ts";
import { BAD_TRACING, ENDPOINT, GOOD_TRACING } from "./tracing-values.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 1440 * MINUTE_MS;

const token = (letter: string) => letter.repeat(32);
const key = (byte: number) => Buffer.alloc(32, byte);
const base64 = (byte: number) => key(byte).toString("base64");

test("without variables the defaults apply", () => {
  assert.deepEqual(loadConfig({}), defaults);
});

test("an empty or blank variable counts as unset, and foreign variables are ignored", () => {
  const names = configurationNames();
  assert.deepEqual(loadConfig(Object.fromEntries(names.map((name) => [name, ""]))), defaults);
  assert.deepEqual(loadConfig(Object.fromEntries(names.map((name) => [name, " "]))), defaults);
  assert.deepEqual({ ...loadConfig({ PORTS: "x", port: "x" }), misspelt: [] }, defaults);
});

test("the names of all variables can be listed", () => {
  assert.deepEqual(configurationNames().sort(), [...new Set(GOOD.map(([name]) => name))].sort());
});

const DESK = { title: "Partner API", logo: null, accent: null };
const DATABASE_URL = "postgres://u:p%40ss@db.example:5433/partner?sslmode=require";

const GOOD: [name: string, value: string, expected: Partial<Config>, others?: NodeJS.ProcessEnv][] =
  [
    ["DATABASE_URL", DATABASE_URL, { databaseUrl: DATABASE_URL }],
    ["DATABASE_URL", "postgresql:///partner", { databaseUrl: "postgresql:///partner" }],
    ["DATABASE_URL", "postgres://a:1,b:2/partner", { databaseUrl: "postgres://a:1,b:2/partner" }],
    [
      "DATABASE_URL",
      "postgres://u@%2Frun%2F,:5432/p",
      { databaseUrl: "postgres://u@%2Frun%2F,:5432/p" },
    ],
    [
      "MIGRATION_DATABASE_URL",
      "postgres://owner@db.example/partner",
      { databaseUrl: DATABASE_URL, migrationDatabaseUrl: "postgres://owner@db.example/partner" },
      { DATABASE_URL },
    ],
    ["CELL", "7a", { cell: "7a" }],
    ["DATA_DIR", "/var/lib/p a", { dataDir: "/var/lib/p a" }],
    ["HOST", "::", { host: "::" }],
    ["HOST", "api.example", { host: "api.example" }],
    ["PORT", "0", { port: 0 }],
    ["PORT", "65535", { port: 65_535 }],
    ["BASE_URL", "https://api.example", { baseUrl: "https://api.example" }],
    ["BASE_URL", "http://[::1]:8080/vc", { baseUrl: "http://[::1]:8080/vc" }],
    ["OPERATOR_HOST", "10.0.0.7", { operatorHost: "10.0.0.7" }],
    ["OPERATOR_PORT", "9091", { operatorPort: 9091 }],
    [
      "ALLOWED_HOSTS",
      "Ops.example.com., partner_api",
      { allowedHosts: ["ops.example.com", "partner_api"] },
    ],
    ["ALLOWED_HOSTS", "*", { allowedHosts: ["*"] }],
    ["ROLE", "api", { role: "api" }],
    ["ROLE", "dispatcher", { role: "dispatcher" }],
    [
      "ADMIN_TOKEN",
      token("a"),
      { adminTokens: [{ name: "operator", role: "operate", token: token("a") }] },
    ],
    [
      "ADMIN_TOKEN",
      `ann:${token("a")}, bob/read:${token("b")}, eve/publish:${token("c")}, joe/operate:${token("d")}`,
      {
        adminTokens: [
          { name: "ann", role: "operate", token: token("a") },
          { name: "bob", role: "read", token: token("b") },
          { name: "eve", role: "publish", token: token("c") },
          { name: "joe", role: "operate", token: token("d") },
        ],
      },
    ],
    [
      "SEALING_KEYS",
      `2026-b:${base64(2)},2026_a:${base64(1)}`,
      {
        sealingKeys: [
          { id: "2026-b", key: key(2) },
          { id: "2026_a", key: key(1) },
        ],
      },
    ],
    ["SEALING_KEYS", `a:${base64(1).slice(0, -1)}`, { sealingKeys: [{ id: "a", key: key(1) }] }],
    [
      "PARTNER_API_URL",
      "https://operators.example/",
      { operatorApi: { url: "https://operators.example", token: token("c") } },
      { PARTNER_API_TOKEN: token("c") },
    ],
    [
      "PARTNER_API_TOKEN",
      token("c"),
      { operatorApi: { url: "http://localhost:8081", token: token("c") } },
      { PARTNER_API_URL: "http://localhost:8081" },
    ],
    ["EGRESS_SOURCE", "::1,127.0.0.2", { egressSource: { ipv4: "127.0.0.2", ipv6: "::1" } }],
    [
      "EGRESS_SHOWN",
      "203.0.113.7, 203.0.113.8/29",
      { egressShown: ["203.0.113.7", "203.0.113.8/29"] },
    ],
    ["CONTACT", "partners@example.com", { contact: "partners@example.com" }],
    ["DESK", "false", { desk: null }],
    ["DESK_TITLE", "Acme", { desk: { ...DESK, title: "Acme" } }],
    ["DESK_LOGO", "/etc/acme.svg", { desk: { ...DESK, logo: "/etc/acme.svg" } }],
    ["DESK_ACCENT", "#8A1F5C", { desk: { ...DESK, accent: "#8a1f5c" } }],
    ["RETRY_DELAYS", "0s,250ms, 1s", { retryDelaysMs: [0, 250, 1_000] }],
    ["RETRY_DELAYS", Array(20).fill("1s").join(), { retryDelaysMs: Array<number>(20).fill(1_000) }],
    ["ATTEMPT_TIMEOUT", "300ms", { attemptTimeoutMs: 300 }],
    ["AUTO_DISABLE_AFTER", "1", { autoDisableAfter: 1 }],
    ["WORKERS", "4", { workers: 4 }],
    ["WORKERS", "auto", { workers: "auto" }],
    ["DISPATCH_CONCURRENCY", "7", { dispatchConcurrency: 7, subscriptionConcurrency: 4 }],
    ["DISPATCH_CONCURRENCY", "8", { dispatchConcurrency: 8, subscriptionConcurrency: 4 }],
    ["SUBSCRIPTION_CONCURRENCY", "256", { subscriptionConcurrency: 256 }],
    ["MAX_SUBSCRIPTIONS", "10000", { maxSubscriptions: 10_000 }],
    [
      "EGRESS_ALLOW",
      "127.0.0.0/8,::1/128",
      { egress: { allow: cidrs("127.0.0.0/8", "::1/128"), deny: [] } },
    ],
    ["PLATFORM_ORGANIZATION", "acme", { platformOrganization: "acme" }],
    ["EVENT_TYPES", "/srv/types", { eventTypes: "/srv/types" }],
    ["EGRESS_DENY", "192.0.2.0/24", { egress: { allow: [], deny: cidrs("192.0.2.0/24") } }],
    [
      "EGRESS_DENY",
      "::ffff:192.0.2.0/120,::/0",
      { egress: { allow: [], deny: cidrs("192.0.2.0/24", "::/0") } },
    ],
    ["EGRESS_CA_FILE", "ca.pem", { egressCaFile: "ca.pem" }],
    ["DNS_SERVERS", "9.9.9.9,127.0.0.1:5353", { dnsServers: ["9.9.9.9:53", "127.0.0.1:5353"] }],
    ["DNS_SERVERS", "[2620:fe::fe],[::1]:5353", { dnsServers: ["[2620:fe::fe]:53", "[::1]:5353"] }],
    ["EVENT_TYPES", "./event-types", { eventTypes: "./event-types" }],
    [
      "EVENT_TYPES_ANNOTATIONS",
      "tsType, tsEnumNames",
      { eventTypesAnnotations: ["tsType", "tsEnumNames"] },
    ],
    ["RETENTION", "90d", { retentionMs: 90 * DAY_MS }],
    ["RETENTION", "2s", { retentionMs: 2_000 }],
    ["EXPORT_COMMAND", "export", { exportCommand: { program: "export", args: [], env: {} } }],
    ["LOG_LEVEL", "silent", { logLevel: "silent" }],
    ["DRAIN", "5s", { drainMs: 5_000 }],
    ["SHUTDOWN_GRACE", "2m", { shutdownGraceMs: 2 * MINUTE_MS }],
    ...GOOD_TRACING,
  ];

for (const [name, value, expected, others] of GOOD) {
  test(`${name}=${value.slice(0, 40)} is understood`, () => {
    assert.deepEqual(loadConfig({ ...others, [name]: value }), {
      ...defaults,
      ...expected,
    });
  });
}

const BAD: [name: string, values: string[], mustBe: RegExp][] = [
  ["DATABASE_URL", ["mysql://db/x", "db.example", "postgres://h:port/x"], /a postgres:\/\/ or/],
  ["MIGRATION_DATABASE_URL", ["https://db/x"], /a postgres:\/\/ or/],
  ["CELL", ["0", "000", "A1", "0-", "é1"], /two characters of 0-9 and a-z, not "/],
  [
    "SHARDS",
    ["00=postgres://a/p", "x"],
    /a service for each database, with DATABASE_URL and CELL, and `partner-api gateway` for all$/,
  ],
  ["HOST", ["[::1]", "127.0.0.1:80", "a b"], /without brackets or port/],
  ["OPERATOR_HOST", ["http://x"], /without brackets or port/],
  [
    "ALLOWED_HOSTS",
    ["ops:8081", "*.example", "a b", "http://x", "a,,b"],
    /a host name without a port, or \*/,
  ],
  ["PORT", ["65536", "-1", "80.5", "0x50", "http", "1e3"], /an integer from 0 to 65535, not "/],
  ["OPERATOR_PORT", ["70000"], /an integer from 0 to 65535, not "70000"/],
  [
    "BASE_URL",
    [
      "api.example",
      "ftp://x",
      "https://x/",
      "https://x?a",
      "https://x#a",
      "https://u@x",
      "http://",
      "http://x:y",
    ],
    /an http or https URL/,
  ],
  ["ROLE", ["API", "worker"], /one of all, api, dispatcher, not "/],
  ["ADMIN_TOKEN", ["x".repeat(31), `ann:${"x".repeat(31)}`, `ann:${"ü".repeat(32)}`], /32 to 512/],
  [
    "SEALING_KEYS",
    [
      "a:short",
      base64(1),
      `a b:${base64(1)}`,
      `a:${base64(1)}AA`,
      `a:${"A".repeat(40)}`,
      `a:${"A".repeat(44)}`,
    ],
    /32 bytes/,
  ],
  ["RETRY_DELAYS", ["1m,soon", "1m,", "1m,400d", "5"], /entry \d must be a duration .*, not "/],
  ["RETRY_DELAYS", [Array(21).fill("1s").join()], /at most 20 entries/],
  ["ATTEMPT_TIMEOUT", ["10", "1.5s", "0s", "6m", "-1s", "1 s"], /a duration .* from 1ms to 5m/],
  ["AUTO_DISABLE_AFTER", ["0"], /an integer from 1 /],
  ["WORKERS", ["0", "257", "-1", "1.5", "all"], /an integer from 1 to 256, or auto, not "/],
  ["DISPATCH_CONCURRENCY", ["0", "10001"], /an integer from 1 to 10000/],
  ["SUBSCRIPTION_CONCURRENCY", ["0", "many"], /an integer from 1 /],
  ["SUBSCRIPTION_CONCURRENCY", ["513"], /must not be more than DISPATCH_CONCURRENCY/],
  ["MAX_SUBSCRIPTIONS", ["0", "10001"], /an integer from 1 to 10000/],
  ["EGRESS_ALLOW", ["10.0.0.0", "127.0.0.0/8,nonsense"], /entry \d must be a block of addresses/],
  ["DESK", ["no"], /must be one of true, false/],
  ["DESK_TITLE", ["x".repeat(61)], /must be a name of at most 60 characters/],
  ["DESK_ACCENT", ["red", "#ffee00", "#8a1f5"], /must be a colour #rrggbb that is dark enough/],
  ["EGRESS_DENY", ["10.0.0.0/33"], /entry 1 must be a block of addresses/],
  ["EVENT_TYPES_ANNOTATIONS", ["a b", "a,,b", "a/b"], /names of keywords/],
  ["DNS_SERVERS", ["::1", "9.9.9.9:0", "9.9.9.9:65536", "dns.example:53", "[9.9.9.9]:53"], /an IP/],
  ["RETENTION", ["forever", "0ms", "3651d"], /a duration .* from 1ms to 3650d/],
  [
    "LOG_LEVEL",
    ["verbose"],
    /one of fatal, error, warn, info, debug, trace, silent, not "verbose"/,
  ],
  ["DRAIN", ["5", "2h"], /a duration .* from 0s to 1h/],
  ["EGRESS_SOURCE", ["0.0.0.0", "localhost"], /an IP address of this machine/],
  ["EGRESS_SOURCE", ["127.0.0.1,127.0.0.2"], /at most one IPv4 address and one IPv6 address/],
  ["EGRESS_SHOWN", ["203.0.113.7/29", "example.com"], /an IP address or a block/],
  ["CONTACT", ["somebody", "javascript:alert(1)"], /an e-mail address or an http/],
  ["PARTNER_API_URL", ["http://10.0.0.1:8081", "operators.example"], /the https URL of an/],
  ["PARTNER_API_TOKEN", ["short", `alice:${token("c")}`], /only the token/],
  ["SHUTDOWN_GRACE", ["15", "2h"], /a duration .* from 0s to 1h/],
  ["TRACE_RECEIVERS", ["true"], /has no effect without OTEL_EXPORTER_OTLP_ENDPOINT/],
  ...BAD_TRACING,
];

for (const [name, values, mustBe] of BAD) {
  test(`${name} is refused when it is invalid (${mustBe.source})`, () => {
    const others = name.startsWith("OTEL_") ? ENDPOINT : {};
    for (const value of values) {
      const faults = faultsOf({ DATABASE_URL, ...others, [name]: value });
      assert.equal(faults.length, 1, value);
      assert.match(faults[0] ?? "", mustBe, value);
      assert.ok(faults[0]?.startsWith(`${name} `), value);
    }
  });
}

test("all faults are reported at once, one for each entry of a list", () => {
  assert.deepEqual(
    faultsOf({
      PORT: "x",
      ROLE: "y",
      EGRESS_ALLOW: "a,10.0.0.0/8,b",
      MIGRATION_DATABASE_URL: DATABASE_URL,
    }),
    [
      'PORT must be an integer from 0 to 65535, not "x"',
      'ROLE must be one of all, api, dispatcher, not "y"',
      'EGRESS_ALLOW entry 1 must be a block of addresses such as 10.0.0.0/8 or fd00::/8, not "a"',
      'EGRESS_ALLOW entry 3 must be a block of addresses such as 10.0.0.0/8 or fd00::/8, not "b"',
      "MIGRATION_DATABASE_URL requires DATABASE_URL",
    ],
  );
});

test("every fault of a database's URL is reported, with the variable", () => {
  assert.deepEqual(
    faultsOf({
      DATABASE_URL: "postgres://u@h/d?gssencmode=require&service=x",
      MIGRATION_DATABASE_URL: "postgres://u@h/d?datestyle=German",
    }),
    [
      "DATABASE_URL: gssencmode must be disable or prefer: the service encrypts by TLS",
      "DATABASE_URL: service is not supported: write the URL in full",
      "MIGRATION_DATABASE_URL: datestyle is set by the service: remove it",
    ],
  );
});

test("a fault never quotes a possible secret", () => {
  const secret = "hunter2hunter2";
  const faults = faultsOf({
    DATABASE_URL: `mysql://u:${secret}@db/x`,
    MIGRATION_DATABASE_URL: `postgres://u:${secret}@db:port/x`,
    SHARDS: `00=mysql://u:${secret}@db/x`,
    BASE_URL: `https://u:${secret}@api.example`,
    ADMIN_TOKEN: `${secret},ann:${secret},${secret}:${token("a")}ü`,
    OTEL_EXPORTER_OTLP_HEADERS: secret,
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://u:${secret}@c`,
    SEALING_KEYS: `${secret},a:${secret},a:${base64(1)},a:${base64(2)}`,
  });
  assert.ok(faults.length >= 7);
  assert.ok(!faults.join().includes(secret));
});

function cidrs(...texts: string[]) {
  return texts.map((text) => {
    const cidr = parseCidr(text);
    assert.ok(cidr);
    return cidr;
  });
}

test("what a fleet sets for OpenTelemetry stops no start that traces nothing", () => {
  const wrong = BAD_TRACING.filter(([name]) => !/RECEIVERS|ENDPOINT/.test(name));
  const others = Object.fromEntries(wrong.map(([name, [value]]) => [name, value]));
  for (const off of [
    { OTEL_EXPORTER_OTLP_ENDPOINT: "" },
    { OTEL_EXPORTER_OTLP_ENDPOINT: "collector:4317", OTEL_SDK_DISABLED: "true" },
    { ...ENDPOINT, OTEL_TRACES_EXPORTER: "none" },
  ])
    assert.deepEqual(loadConfig({ ...others, ...off }).tracing, null);
  assert.equal(faultsOf({ ...others, ...ENDPOINT }).length, Object.keys(others).length);
});
