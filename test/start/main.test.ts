import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type ListenOptions, Server } from "node:net";
import { test, type TestContext } from "node:test";
import { type Config, loadConfig } from "../../src/config/config.ts";
import { start } from "../../src/start/main.ts";
import { createDatabase, environmentOf, ownerOf } from "../support/database.ts";
import { freePort } from "../support/free-port.ts";
import { ADMIN_TOKEN } from "../support/program.ts";

const db = await createDatabase();

async function aConfig(environment = environmentOf(db)): Promise<Config> {
  return loadConfig({
    ...environment,
    ADMIN_TOKEN,
    SEALING_KEYS: `test:${Buffer.alloc(32).toString("base64")}`,
    LOG_LEVEL: "silent",
    PORT: String(await freePort()),
    OPERATOR_PORT: String(await freePort()),
  });
}

test("a start that fails at its last step closes everything", async (t) => {
  const config = await aConfig();
  const other = new Server().listen(config.port, config.host);
  t.after(() => other.close());
  await once(other, "listening");
  const timers = runningTimers(t);
  let isOperatorsOpen = false;
  onListen(t, config.port, async () => (isOperatorsOpen = await isOpen(config.operatorPort)));

  await assert.rejects(start(config), /port is in use/);
  assert.ok(isOperatorsOpen);
  assert.equal(await isOpen(config.operatorPort), false);
  assert.deepEqual([...timers], []);
  const [sessions] = await ownerOf(db)`
    select count(*)::integer from pg_stat_activity
    where datname = current_database() and application_name = 'partner-api'`;
  assert.equal(sessions?.["count"], 0);
});

for (const [role, opens] of [
  ["api", false],
  ["dispatcher", true],
] as const) {
  test(`ROLE=${role} opens ${opens ? "a" : "no"} sender`, async (t) => {
    const service = await start(await aConfig({ ...environmentOf(db), ROLE: role }));
    t.after(() => service.stop());
    const metrics = await (await fetch(`${service.operatorUrl}/metrics`)).text();
    assert.equal(metrics.includes("partner_api_attempts_under_way"), opens);
  });
}

test("a listener responds before the other one is open", async (t) => {
  const config = await aConfig();
  const { operatorHost, operatorPort } = config;
  let type: unknown;
  onListen(t, config.port, async () => {
    const answer = await fetch(`http://${operatorHost}:${operatorPort}/nowhere`);
    ({ type } = (await answer.json()) as { type: string });
  });
  const service = await start(config);
  await service.stop();
  assert.equal(type, `http://127.0.0.1:${config.port}/docs/errors#not_found`);
});

/** The intervals that the service sets from now on and does not clear. */
function runningTimers(t: TestContext): ReadonlySet<unknown> {
  const running = new Set<unknown>();
  const { setInterval: set, clearInterval: clear } = globalThis;
  t.mock.method(globalThis, "setInterval", (...given: Parameters<typeof set>) => {
    const timer = set(...given);
    const frames = new Error().stack?.split("\n") ?? [];
    const caller = frames.find((frame) => /\/(?:src|node_modules)\//.test(frame)) ?? "";
    if (/\/src\/(?:delivery|http|wiring)\//.test(caller)) running.add(timer);
    return timer;
  });
  t.mock.method(globalThis, "clearInterval", (timer: NodeJS.Timeout | undefined) => {
    running.delete(timer);
    clear(timer);
  });
  return running;
}

/** Runs work before anything listens on the port. */
function onListen(t: TestContext, port: number, before: () => Promise<unknown>): void {
  type Listen = (this: Server, options: ListenOptions) => Server;
  const listen = Reflect.get(Server.prototype, "listen") as Listen;
  t.mock.method(Server.prototype, "listen", function (this: Server, options: ListenOptions) {
    if (options.port === port) void before().then(() => listen.call(this, options));
    else listen.call(this, options);
    return this;
  });
}

async function isOpen(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
