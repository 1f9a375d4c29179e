import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { parse } from "yaml";
import { readConfiguration } from "../../src/bridge/configuration.ts";
import { freePort, openPort } from "../support/free-port.ts";
import { requireProgram } from "../support/required.ts";
import { ROOT } from "../support/root.ts";
import { aTemporaryFolder } from "../support/temporary-folder.ts";

interface Service {
  build?: object;
  restart?: string;
  environment?: Record<string, string>;
  logging?: { driver: string };
  networks?: object;
  ulimits?: object;
  stop_grace_period?: string;
  healthcheck?: { disable?: boolean; test?: string[]; start_period?: string };
}

const execute = promisify(execFile);
const read = (path: string) => readFile(join(ROOT, path), "utf8");
const servicesOf = async (file: string) =>
  (parse(await read(`deploy/${file}`), { merge: true }) as { services: Record<string, Service> })
    .services;
const services = await servicesOf("compose.yaml");
const dockerfile = await read("deploy/Dockerfile");

test("every service that keeps running has a health check, restarts, and keeps a bounded log", () => {
  const running = Object.entries(services).filter(([, { restart }]) => restart !== "no");
  assert.deepEqual(
    running.map(([name]) => name),
    ["database", "node-a", "node-b", "balancer", "prometheus", "grafana"],
  );
  assert.match(dockerfile, /^HEALTHCHECK /m); // That of the nodes.
  for (const [name, service] of running) {
    if (!name.startsWith("node-")) assert.ok(service.healthcheck?.test, name);
    assert.equal(service.restart, "unless-stopped", name);
  }
  for (const [name, { logging }] of Object.entries(services))
    assert.equal(logging?.driver, "local", name);
});

test("no service asks for more than its host has, or for a stop or a recovery in a few seconds", () => {
  for (const [name, { ulimits }] of Object.entries(services))
    assert.equal(ulimits, undefined, `${name}: an engine with a lower limit does not start it`);
  const { stop_grace_period: stop, healthcheck } = services["database"] ?? {};
  assert.deepEqual([stop, healthcheck?.start_period], ["2m", "10m"]);
});

test("the example of cells leads each name to its own node, database and scrape target", async () => {
  const cells = await servicesOf("compose.cells.yaml");
  const { environment: gateway, logging, restart } = cells["gateway"] ?? {};
  assert.deepEqual([logging?.driver, restart], ["local", "unless-stopped"]);
  assert.equal(gateway?.["CELLS"], "00=http://node-a:8081 01=http://node-b:8081");
  const { CELL, DATABASE_URL } = cells["node-b"]?.environment ?? {};
  assert.deepEqual([CELL, DATABASE_URL?.split("@")[1]], ["01", "database-01/partner"]);
  assert.deepEqual(cells["balancer"]?.environment, {
    ...{ CELL_00: "node-a:8080", CELL_01: "node-b:8080" },
  });
  for (const node of ["node-a", "node-b"])
    assert.equal(cells[node]?.environment?.["ALLOWED_HOSTS"], node);
});

test("the example of a bridge starts it with a token of its own, and lets it reach both nodes by one name", async () => {
  const bridged = await servicesOf("compose.bridge.yaml");
  const { environment, restart, logging, build } = bridged["bridge"] ?? {};
  assert.deepEqual([logging?.driver, restart], ["local", "unless-stopped"]);
  assert.deepEqual(build, { context: "..", dockerfile: "deploy/Dockerfile", target: "bridge" });
  const token = environment?.["PARTNER_API_TOKEN"] ?? "";
  assert.equal(environment?.["PARTNER_API_URL"], "http://operators:8081");
  for (const node of ["node-a", "node-b"]) {
    const { ADMIN_TOKEN, ALLOWED_HOSTS } = bridged[node]?.environment ?? {};
    assert.ok(ADMIN_TOKEN?.endsWith(`,bridge/publish:${token}`), ADMIN_TOKEN);
    assert.equal(ALLOWED_HOSTS, "operators");
    assert.deepEqual(bridged[node]?.networks, { default: { aliases: ["operators"] } });
  }
  const faults: string[] = [];
  const OUTBOX_URL = "postgres://bridge@db/shop";
  const secrets = { env: { OUTBOX_URL }, readFile: () => "" };
  const sources = readConfiguration(await read("deploy/bridge.yaml"), secrets, faults);
  assert.deepEqual([sources.map(({ kind }) => kind), faults], [["outbox"], []]);
  assert.match(await read("deploy/new-secrets.sh"), /^echo "BRIDGE_TOKEN=/m);
});

test("the image of the bridge is the service's with the clients, and is not what a build makes by default", () => {
  const stages = dockerfile.split(/^(?=FROM )/m).map((stage) => stage.split("\n")[0] ?? "");
  assert.deepEqual(stages.slice(-2), ["FROM service AS bridge", "FROM service"]);
  const [, bridge = ""] = dockerfile.split(/^FROM service AS bridge$/m);
  assert.match(bridge, /^CMD \["bridge", "--config", "\/etc\/partner-api\/bridge\.yaml"\]$/m);
  assert.match(bridge, /BRIDGE_PORT \?\? 8082\}\/healthz/);
});

for (const [name, most] of [
  ["haproxy", 20_050],
  ["cells", 20_050],
  ["postgres", 2_050],
] as const) {
  test(`haproxy starts ${name}.cfg with few descriptors, and says how many connections it takes`, async (t) => {
    if (!(await requireProgram(t, "haproxy", ["-v"]))) return;
    const few = await connectionsWith(t, name, 512);
    assert.ok(few > 200 && few < 256, String(few));
    const many = await connectionsWith(t, name, null);
    // Without it, a machine without a limit would reserve memory for as many connections as there are descriptors.
    assert.match(await read(`deploy/haproxy/${name}.cfg`), /^ {4}fd-hard-limit \d+$/m);
    assert.ok(many > few && many <= most, String(many));
  });
}

/** Starts haproxy with at most so many open files, and returns the number of connections that it names. */
async function connectionsWith(
  t: TestContext,
  name: string,
  files: number | null,
): Promise<number> {
  const file = join(ROOT, `deploy/haproxy/${name}.cfg`);
  const env = { PATH: process.env["PATH"], BIND: `127.0.0.1:${await freePort()}` };
  const limit = files === null ? "" : `ulimit -n ${files};`;
  const child = spawn("sh", ["-c", `${limit} exec haproxy -db -V -f "$0"`, file], {
    ...{ env, stdio: ["ignore", "ignore", "pipe"] },
  });
  const ended = once(child, "exit");
  t.after(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  let said = "";
  for await (const chunk of child.stderr.setEncoding("utf8")) {
    said += chunk as string;
    const [, connections] = /setting global\.maxconn to (\d+)\./.exec(said) ?? [];
    if (connections !== undefined) return Number(connections);
  }
  throw new Error(`haproxy ended: ${said}`);
}

test("the balancer is healthy while a node behind it is ready, and not when it or all nodes are away", async (t) => {
  if (!(await requireProgram(t, "haproxy", ["-v"]))) return;
  const balancer = await freePort();
  const isHealthy = () => passes("balancer", (part) => part.replace("/8080", `/${balancer}`));
  assert.equal(await isHealthy(), false);

  let status = 200;
  const node = createServer((_request, response) => response.writeHead(status).end());
  const place = `127.0.0.1:${await openPort(t, node)}`;
  const file = join(ROOT, "deploy/haproxy/haproxy.cfg");
  const env = {
    PATH: process.env["PATH"],
    BIND: `127.0.0.1:${balancer}`,
    NODE_A: place,
    NODE_B: place,
  };
  const child = spawn("haproxy", ["-db", "-f", file], { env, stdio: "ignore" });
  const ended = once(child, "exit");
  t.after(() => child.kill("SIGKILL"));
  while (!(await isHealthy())) await sleep(50);
  status = 503;
  while (await isHealthy()) await sleep(50);
  status = 200;
  while (!(await isHealthy())) await sleep(50);
  child.kill("SIGKILL");
  await ended;
  assert.equal(await isHealthy(), false);
});

for (const file of ["prometheus.yml", "cells.yml"]) {
  test(`Prometheus starts with ${file} of deploy, and its check notices when it is away`, async (t) => {
    if (!(await requireProgram(t, "prometheus", ["--version"]))) return;
    const folder = await aTemporaryFolder(t);
    const place = `127.0.0.1:${await freePort()}`;
    const isHealthy = () => passes("prometheus", (part) => part.replace("127.0.0.1:9090", place));
    assert.equal(await isHealthy(), false);
    const config = `--config.file=${join(ROOT, "deploy/prometheus", file)}`;
    const options = [config, `--storage.tsdb.path=${folder}`, `--web.listen-address=${place}`];
    const child = spawn("prometheus", options, { stdio: "ignore" });
    const ended = once(child, "exit");
    t.after(() => child.kill("SIGKILL"));
    while (!(await isHealthy())) {
      assert.equal(child.exitCode, null, "Prometheus has ended");
      await sleep(100);
    }
    child.kill("SIGKILL");
    await ended;
    assert.equal(await isHealthy(), false);
  });
}

test("Grafana's check notices a server that is away or not well", async (t) => {
  if (!(await requireProgram(t, "curl", ["--version"]))) return;
  let status = 200;
  const server = createServer(({ url }, response) => {
    response.writeHead(url === "/api/health" ? status : 404).end();
  });
  const port = await openPort(t, server);
  const isHealthy = () => passes("grafana", (part) => part.replace(":3000", `:${port}`));
  assert.equal(await isHealthy(), true);
  status = 503;
  assert.equal(await isHealthy(), false);
  server.close();
  assert.equal(await isHealthy(), false);
});

/** Runs the health check of a service, as the engine would in its container. */
async function passes(name: string, adapt: (part: string) => string) {
  const [kind, program = "", ...args] = services[name]?.healthcheck?.test ?? [];
  assert.equal(kind, "CMD");
  const parts = args.map((part) => adapt(part.replaceAll("$$", "$")));
  return execute(program, parts, { timeout: 6_000 }).then(
    () => true,
    () => false,
  );
}
