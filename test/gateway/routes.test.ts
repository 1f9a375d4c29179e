import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import Fastify from "fastify";
import { pino } from "pino";
import { buildGatewayApp } from "../../src/gateway/app.ts";
import { Cell } from "../../src/gateway/cell.ts";
import { API, Cells } from "../../src/gateway/cells.ts";
import { spreadRoutes } from "../../src/gateway/spread.ts";
import type { App } from "../../src/http/app.ts";
import { requireSpread } from "../../src/http/spread.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { createDatabase } from "../support/database.ts";
import { createEngine } from "../support/engine.ts";
import { OPERATORS, PUBLISHER, READER, startOperatorApi } from "../support/operator-api.ts";

const watch = { asked: () => undefined, away: () => undefined, back: () => undefined };

/** A gateway whose cells do not exist. */
function aLonelyGateway(t: TestContext): App {
  const cellOf = (name: string) =>
    new Cell({ name, url: "http://127.0.0.1:1" }, { clock: systemClock, watch });
  const cells = new Cells([cellOf("00"), cellOf("01")]);
  const app = buildGatewayApp(cells, {
    ...{ logger: pino({ level: "silent" }), clock: systemClock, baseUrl: () => "" },
    ...{ tokens: [...OPERATORS, READER, PUBLISHER], allowedHosts: [] },
    health: { ready: () => Promise.resolve([]) },
    metrics: () => Promise.resolve({ contentType: "text/plain", body: "" }),
  });
  t.after(async () => {
    await app.close();
    await cells.close();
  });
  return app;
}

const bearer = (token = "") => ({ authorization: `Bearer ${token}` });

test("the gateway serves every route of the service's operators, with its document", async (t) => {
  const app = aLonelyGateway(t);
  const { deps } = await createEngine(await createDatabase());
  const service = startOperatorApi(t, deps).app;
  const documentOf = async (one: App) =>
    (await one.inject(`${API}/openapi.json`)).json<{ paths: object }>();
  const routesOf = ({ routeTable }: App) =>
    routeTable.map(({ method, url }) => `${String(method)} ${url}`).sort();
  const [own, ofService] = [await documentOf(app), await documentOf(service)];
  assert.deepEqual(routesOf(app), routesOf(service));
  assert.deepEqual(Object.keys(own.paths), Object.keys(ofService.paths));
  assert.match(JSON.stringify(own), /"enum":\["00","01"\]/, "the cells of new organizations");
});

test("a route that does not say how it spreads stops the start", () => {
  const app = Fastify() as unknown as App;
  requireSpread(app);
  const schema = { operationId: "newRoute" };
  assert.throws(() => app.get("/new", { schema }, () => null), /GET \/new declares no spread/);
});

test("a spread that the gateway has no function for stops its start", () => {
  const app = Fastify() as unknown as App;
  spreadRoutes(app, { cells: new Cells([{}] as never), own: new Map() });
  for (const spread of ["merged", "own"] as const) {
    const add = () =>
      app.get("/new", { config: { spread }, schema: { operationId: "newRoute" } }, () => null);
    assert.throws(add, /cannot answer newRoute/);
  }
});

test("without a right token no cell is asked, and each role may do what the service allows", async (t) => {
  const app = aLonelyGateway(t);
  const status = async (method: "GET" | "POST", path: string, headers = {}) =>
    (await app.inject({ method, url: API + path, headers })).statusCode;
  assert.equal(await status("GET", "/keys"), 401);
  assert.equal(await status("GET", "/keys", bearer("wrong".repeat(8))), 401);
  assert.equal(await status("GET", "/keys", bearer(PUBLISHER.token)), 403);
  assert.equal(await status("POST", "/keys", bearer(READER.token)), 403);
  assert.equal(await status("GET", "/keys", bearer(READER.token)), 503);
  assert.equal(
    await status("GET", "/keys", { ...bearer(READER.token), host: "evil.example" }),
    421,
  );
});

test("while no cell answers, the overview says so, and everything else is 503 with the names", async (t) => {
  const app = aLonelyGateway(t);
  const headers = bearer(OPERATORS[0]?.token);
  const overview = await app.inject({ url: `${API}/overview`, headers });
  assert.equal(overview.statusCode, 200);
  const { status, problems, unreachable } = overview.json<Record<string, unknown>>();
  assert.deepEqual([status, unreachable], ["down", ["00", "01"]]);
  assert.equal((problems as unknown[]).length, 2);
  for (const { method, url, config } of app.routeTable) {
    if (config?.spread === undefined || config.isStream || url.endsWith("/overview")) continue;
    const path = url.replace(/:\w+/, "x");
    const bodies: Record<string, object> = {
      "/keys": { organization: "acme" },
      "/organizations": { slug: "acme" },
      "/organizations/x": { rate_limit_per_minute: 1 },
      "/subscriptions/x": { max_per_second: 1 },
      "/redeliveries": { filter: { organization: "acme" } },
      "/redeliveries/x": { state: "paused" },
      "/bridges/x": { version: "1.0.0", host: "edge", pid: 1, sources: [] },
      "/slugs": { slug: "acme", cell: "01" },
    };
    const body = bodies[path.slice(API.length)] ?? {};
    const answer = await app.inject({
      ...{ method: method as "GET", url: path, headers },
      ...(method === "POST" || method === "PATCH" || method === "PUT" ? { payload: body } : {}),
    });
    const { code, detail } = answer.json<{ code: string; detail: string }>();
    assert.deepEqual([answer.statusCode, code], [503, "unavailable"], `${String(method)} ${path}`);
    assert.match(detail, /No answer from cell 0[01]/);
    assert.match(answer.headers["retry-after"] ?? "", /^\d+$/);
  }
});
