import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { test, type TestContext } from "node:test";
import { Cell, type CellRequest } from "../../src/gateway/cell.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { openPort } from "../support/free-port.ts";
import { collectGarbage } from "../support/garbage.ts";

const MS = { answer: 10_000, slow: 50, probe: 5_000 };
/** For cells that answer no probes. */
const SILENT_MS = { ...MS, probe: 200 };
const ASK: CellRequest = { method: "GET", path: "/api/v1/admin/keys?limit=1", headers: {} };
const READY = JSON.stringify({ status: "ready", checks: [{ name: "database", ok: true }] });

type Serve = (request: IncomingMessage, response: ServerResponse) => void;

const json = (response: ServerResponse, status: number, body: unknown, headers = {}) =>
  response
    .writeHead(status, { "content-type": "application/json", ...headers })
    .end(JSON.stringify(body));

/** A listener that answers as the test says, and the gateway's side of it. */
async function aCell(t: TestContext, serve: Serve, ms = MS) {
  const probes = { answered: true };
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    if (request.url === "/readyz") {
      if (probes.answered) response.writeHead(200).end(READY);
      return;
    }
    requests.push(request);
    serve(request, response);
  });
  const port = await openPort(t, server);
  const told: string[] = [];
  const statuses: number[] = [];
  const watch = {
    asked: (_: string, { status }: { status: number }) => void statuses.push(status),
    away: (_: string, why: string) => void told.push(why),
    back: () => void told.push("back"),
  };
  const place = { name: "01", url: `http://127.0.0.1:${port}` };
  const cell = new Cell(place, { clock: systemClock, watch, ms });
  t.after(() => cell.close());
  return { cell, probes, requests, server, told, statuses };
}

test("an answer that is none of an operators' listener makes the cell count as away, and says why", async (t) => {
  const problem = (status: number) => (response: ServerResponse) =>
    json(response, status, { code: "x" }, { "content-type": "application/problem+json" });
  const cases: [why: RegExp, answer: (response: ServerResponse) => void][] = [
    [/failed with status 500/, problem(500)],
    [/failed with status 503/, problem(503)],
    [/failed with status 429/, problem(429)],
    [/failed with status 302/, (response) => response.writeHead(302, { location: "/" }).end()],
    [/calls itself 02: correct CELLS/, (response) => json(response, 200, {}, { "x-cell": "02" })],
    [/ALLOWED_HOSTS/, problem(421)],
    [/same ADMIN_TOKEN/, problem(401)],
    [/no operators' listener/, (response) => response.writeHead(200).end("<html>")],
    [/no operators' listener/, (response) => response.writeHead(404).end("nothing here")],
    [/UND_ERR_SOCKET/, (response) => response.destroy()],
    [
      /UND_ERR_RES_EXCEEDED_MAX_SIZE/,
      (response) => json(response, 200, "x".repeat(17 * 1024 * 1024)),
    ],
  ];
  for (const [why, answer] of cases) {
    const { cell, told } = await aCell(t, (_request, response) => {
      answer(response);
    });
    await assert.rejects(cell.read(ASK), { message: why, cell: "01" });
    await assert.rejects(cell.read(ASK), { message: why });
    assert.equal(told.length, 1, "it is logged once");
    assert.notEqual(cell.awaySince, null);
  }
});

test("a refusal is what the cell says, and the cell is not away", async (t) => {
  const { cell, told, statuses } = await aCell(t, (request, response) => {
    json(response, Number(request.headers["x-status"]), { code: "refused" });
  });
  for (const status of [200, 204, 400, 403, 404, 409, 422]) {
    const answer = await cell.read({ ...ASK, headers: { "x-status": String(status) } });
    assert.equal(answer.status, status);
  }
  const session = { cookie: "partner_api_session=x", "x-status": "401" };
  assert.equal(
    (await cell.read({ ...ASK, headers: session })).status,
    401,
    "the session has ended",
  );
  assert.deepEqual(told, []);
  assert.deepEqual(statuses, [200, 204, 400, 403, 404, 409, 422, 401]);
});

test("a frozen cell delays one read only, and is asked again after a probe is answered", async (t) => {
  let isFrozen = true;
  const { cell, probes, requests, told } = await aCell(
    t,
    (_request, response) => {
      if (!isFrozen) json(response, 200, {});
    },
    SILENT_MS,
  );
  probes.answered = false;
  await assert.rejects(cell.read(ASK), { message: /does not answer/, mayHaveActed: false });
  const { length } = requests;
  await assert.rejects(cell.read(ASK), { message: /does not answer/ });
  await assert.rejects(cell.change(ASK), { message: /does not answer/, mayHaveActed: false });
  assert.equal(requests.length, length, "it is not asked any more");
  isFrozen = false;
  probes.answered = true;
  while (told.at(-1) !== "back") await cell.probe();
  assert.equal((await cell.read(ASK)).status, 200);
  assert.deepEqual(told, ["does not answer", "back"]);
});

test(
  "a probe that is not answered ends, even after garbage collection",
  { timeout: 10_000 },
  async (t) => {
    collectGarbage(t);
    const { cell, probes } = await aCell(t, () => undefined, SILENT_MS);
    probes.answered = false;
    assert.deepEqual(await cell.probe(), { name: "01", ok: false, detail: "does not answer" });
  },
);

test("a slow read of a cell that answers probes is waited for", async (t) => {
  const { cell } = await aCell(t, (_request, response) => {
    setTimeout(() => json(response, 200, {}), 10 * MS.slow);
  });
  assert.equal((await cell.read(ASK)).status, 200);
});

test("a change that was sent is waited for although no probe is answered", async (t) => {
  const { cell, probes } = await aCell(
    t,
    (_request, response) => {
      probes.answered = false;
      setTimeout(() => json(response, 200, {}), 10 * MS.slow);
    },
    SILENT_MS,
  );
  const reading = cell.read(ASK).catch(() => undefined); // Its probes find that the cell is silent.
  assert.equal((await cell.change(ASK)).status, 200);
  await reading;
});

test("a change is waited for up to a limit, is sent once, and may have been done", async (t) => {
  const { cell, requests } = await aCell(t, () => undefined, { ...MS, answer: 500 });
  await assert.rejects(cell.change(ASK), { message: /not answered within/, mayHaveActed: true });
  assert.equal(requests.length, 1);
});

test("nothing was done by a cell that could not be reached", async (t) => {
  const { cell, server } = await aCell(t, () => undefined);
  server.close();
  server.closeAllConnections();
  await once(server, "close");
  await assert.rejects(cell.change(ASK), { message: /ECONNREFUSED/, mayHaveActed: false });
});

test("a read is repeated once if its kept connection has broken, and a change is not", async (t) => {
  let breaks = 0;
  const { cell, requests } = await aCell(t, (request, response) => {
    if (breaks-- > 0) request.socket.destroy();
    else json(response, 200, {});
  });
  breaks = 1;
  assert.equal((await cell.read(ASK)).status, 200);
  assert.equal(requests.length, 2);
  breaks = 1;
  await assert.rejects(cell.change(ASK), { mayHaveActed: true });
  assert.equal(requests.length, 3);
});

test("requests share kept connections", async (t) => {
  const { cell, server } = await aCell(t, (_request, response) => void json(response, 200, {}));
  let connections = 0;
  server.on("connection", () => connections++);
  for (let i = 0; i < 20; i++) await cell.read(ASK);
  assert.ok(connections < 10, `${connections} connections`);
});

test("a cell whose database is away is away, and one whose clock is wrong is not", async (t) => {
  const checks = { database: true };
  const server = createServer((_request, response) => {
    const listed = [
      { name: "database", ok: checks.database, detail: "unreachable" },
      { name: "clock", ok: false },
    ];
    json(response, 503, { status: "not ready", checks: listed });
  });
  const place = { name: "01", url: `http://127.0.0.1:${await openPort(t, server)}` };
  const watch = { asked: () => undefined, away: () => undefined, back: () => undefined };
  const cell = new Cell(place, { clock: systemClock, watch, ms: MS });
  t.after(() => cell.close());
  assert.equal((await cell.probe()).ok, true);
  checks.database = false;
  assert.deepEqual(await cell.probe(), { name: "01", ok: false, detail: "database: unreachable" });
});
