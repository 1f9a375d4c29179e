import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { setImmediate } from "node:timers/promises";
import { Pipelines } from "../../src/http/pipelining.ts";
import { column } from "../support/columns.ts";
import { createDatabase } from "../support/database.ts";
import { aGate } from "../support/database-gate.ts";
import { startPartnerApi } from "../support/partner-api.ts";
import { aListeningApi } from "../support/problems.ts";
import { aClient, converse, rawRequest, sendRaw } from "../support/raw-http.ts";
import { openPort } from "../support/free-port.ts";

const db = await createDatabase();

const ME = "GET /api/v1/partner/me HTTP/1.1";
const HOST = "Host: localhost";
const CLOSE = "Connection: close";
/** More than the system's buffers hold for a client that does not read. */
const LARGE = 64 * 1024 * 1024;

test("pipelined requests are answered one after the other, in order", async (t) => {
  const api = startPartnerApi(t, db);
  const { authorization } = await api.aKeyWith("webhooks:manage");
  const key = `Authorization: ${authorization}`;
  let inFlight = 0;
  let atOnce = 0;
  api.app.addHook("preHandler", (_request, _reply, done) => {
    atOnce = Math.max(atOnce, ++inFlight);
    done();
  });
  api.app.addHook("onSend", (_request, _reply, payload, done) => {
    inFlight--;
    done(null, payload);
  });
  const base = await api.listen();

  const body = '{"secret":"x"}';
  const ping = rawRequest(
    "POST /api/v1/partner/webhooks/wh_x/test HTTP/1.1",
    [HOST, key, "Content-Type: application/json", `Content-Length: ${body.length}`],
    body,
  );
  const list = rawRequest("GET /api/v1/partner/webhooks HTTP/1.1", [HOST, key]);
  const last = rawRequest(ME, [HOST, key, CLOSE]);
  const answers = await converse(base, (ping + list).repeat(10) + last);
  assert.deepEqual(column(answers, "status"), [
    ...Array.from({ length: 10 }, () => [404, 200]).flat(),
    200,
  ]);
  assert.equal(atOnce, 1);
});

test("other connections are served between pipelined requests", async (t) => {
  const { api, base } = await aListeningApi(t, db);
  const [ahead, other] = [aClient(t, base), aClient(t, base)];
  for (const socket of [ahead, other]) {
    socket.write(rawRequest("GET /healthz HTTP/1.1", [HOST]));
    await once(socket, "data");
    socket.resume();
  }

  const answered: string[] = [];
  const all = new Promise<void>((resolve) => {
    api.app.server.on("request", ({ url = "" }: IncomingMessage, response: ServerResponse) => {
      response.once("finish", () => {
        // It arrives while the first answer is sent and the other requests wait behind it.
        if (answered.length === 0) other.write(rawRequest("GET /other HTTP/1.1", [HOST]));
        if (answered.push(url) === 31) resolve();
      });
    });
  });
  ahead.write(rawRequest("GET /ahead HTTP/1.1", [HOST]).repeat(30));
  await all;
  const place = answered.indexOf("/other");
  assert.ok(place <= 3, `${place} answers were sent before it`);
});

test("a client with large pipelined requests is slowed down, and all are served", async (t) => {
  const { base, authorization } = await aListeningApi(t, db);
  const head = [HOST, `Authorization: ${authorization}`, `X-Large: ${"x".repeat(12_000)}`];
  const answers = await converse(
    base,
    rawRequest(ME, head).repeat(99) + rawRequest(ME, [HOST, CLOSE]),
  );
  const statuses = answers.map(({ status }) => status);
  assert.deepEqual(statuses, [...Array.from({ length: 99 }, () => 200), 401]);
});

test("an invalid request is answered after the requests before it", async (t) => {
  const { base, authorization } = await aListeningApi(t, db);
  const key = `Authorization: ${authorization}`;
  const me = rawRequest(ME, [HOST, key]);
  const broken = [HOST, key, "Transfer-Encoding: chunked"];

  const followers: [bytes: string, statuses: number[]][] = [
    ["nonsense\r\n\r\n", [200, 200, 400]],
    [rawRequest("CONNECT example.com:443 HTTP/1.1", [HOST]), [200, 200, 400]],
    [rawRequest("GET / HTTP/1.1", [`X-Big: ${"x".repeat(20_000)}`]), [200, 200, 431]],
    [rawRequest("POST /api/v1/partner/webhooks HTTP/1.1", broken, "zz"), [200, 200, 400]],
  ];
  for (const [bytes, statuses] of followers) {
    const answers = await converse(base, me + me + bytes);
    assert.deepEqual(column(answers, "status"), statuses, bytes.slice(0, 40));
  }

  const closing = rawRequest(ME, [HOST, CLOSE, `Authorization: ${authorization}`]);
  const answers = await converse(base, `${closing}and more of it`);
  assert.deepEqual(column(answers, "status"), [200]);
});

test("a request that was answered before its body ended gets no second response", async (t) => {
  const api = startPartnerApi(t, db);
  const socket = aClient(t, await api.listen()).setEncoding("latin1");
  let text = "";
  socket.on("data", (more: string) => (text += more));
  const head = [HOST, "Content-Type: application/json", "Transfer-Encoding: chunked"];
  socket.write(rawRequest("POST /api/v1/partner/webhooks HTTP/1.1", head));
  await once(socket, "data");
  socket.write("zz\r\n");
  await once(socket, "close");
  assert.deepEqual(text.match(/HTTP\/1\.1 \d+/g), ["HTTP/1.1 401"]);
});

test("requests behind one that ends the connection are not served", async (t) => {
  const api = startPartnerApi(t, db);
  const { authorization } = await api.aKeyWith("webhooks:manage");
  const served: string[] = [];
  api.app.addHook("onRequest", ({ url }, _reply, done) => {
    served.push(url);
    done();
  });
  const base = await api.listen();

  const key = `Authorization: ${authorization}`;
  const body = '{"secret":"x"}';
  const json = ["Content-Type: application/json", `Content-Length: ${body.length}`];
  const path = "/api/v1/partner/webhooks/wh_x/test";
  const twoHosts = rawRequest(`POST ${path} HTTP/1.1`, [HOST, HOST, key, ...json], body);
  const behind = rawRequest(`POST ${path}?behind HTTP/1.1`, [HOST, key, ...json], body);
  const answers = await converse(base, twoHosts + behind.repeat(2));
  assert.deepEqual(column(answers, "status"), [400]);
  assert.deepEqual(served, []);

  const first = rawRequest(ME, [HOST, key]);
  const later = await converse(base, first + twoHosts + behind.repeat(2));
  assert.deepEqual(column(later, "status"), [200, 400]);
  assert.deepEqual(served, ["/api/v1/partner/me"]);
});

/** The ways in which either side may end a connection during an answer. */
const CUT: Record<string, (client: Socket, socket: Socket) => void> = {
  we: (_client, socket) => socket.destroy(),
  "its client": (client) => client.resetAndDestroy(),
};

for (const [who, cut] of Object.entries(CUT)) {
  test(`requests after an answer that ${who} gave up are not served`, async (t) => {
    const { app, listen } = startPartnerApi(t, db);
    const served: string[] = [];
    app.get("/large", ({ url }) => {
      served.push(url);
      return Buffer.alloc(LARGE);
    });
    const base = await listen();
    const accepted = once(app.server, "connection") as Promise<[Socket]>;
    const client = aClient(t, base);
    const large = (query: string) => rawRequest(`GET /large?${query} HTTP/1.1`, [HOST]);
    client.write(large("first") + large("behind"));
    await once(client, "readable");
    const [socket] = await accepted;
    const closed = new Promise((resolve) => socket.once("close", resolve));
    cut(client, socket);
    await closed;
    await setImmediate();
    assert.deepEqual(served, ["/large?first"]);
  });
}

test("a request that ends before its predecessors starts no other request", async (t) => {
  const { pipelines, requests, begun } = await threePipelined(t);
  const [first, second] = requests;
  assert.ok(first && second);
  pipelines.end(second);
  assert.deepEqual(begun, ["/first"]);
  pipelines.end(first);
  await setImmediate();
  assert.deepEqual(begun, ["/first", "/third"]);
});

test("an invalid request is not answered after a response that ends the connection", async (t) => {
  const { pipelines, requests, responses, begun } = await threePipelined(t);
  const [first] = requests;
  assert.ok(first);
  responses[0]?.setHeader("connection", "close");
  for (const request of requests.toReversed()) pipelines.end(request);
  pipelines.takeLast(first.socket, () => begun.push("no request"));
  assert.deepEqual(begun, ["/first"]);
});

/** Requests of one connection and their pipeline. They get no answer. */
async function threePipelined(t: TestContext) {
  const pipelines = new Pipelines();
  const requests: IncomingMessage[] = [];
  const responses: ServerResponse[] = [];
  const begun: string[] = [];
  const server = createServer();
  const arrived = new Promise<void>((resolve) => {
    server.on("request", (request: IncomingMessage, response: ServerResponse) => {
      pipelines.take(request, response, () => begun.push(request.url ?? ""));
      responses.push(response);
      if (requests.push(request) === 3) resolve();
    });
  });
  const client = aClient(t, `http://127.0.0.1:${await openPort(t, server)}`);
  const urls = ["/first", "/second", "/third"];
  client.write(urls.map((url) => rawRequest(`GET ${url} HTTP/1.1`, [HOST])).join(""));
  await arrived;
  return { pipelines, requests, responses, begun };
}

test("a client that pipelines thousands of requests is served one and disconnected", async (t) => {
  const gate = await aGate(t, db);
  const api = startPartnerApi(t, gate.db);
  const { authorization } = await api.aKeyWith();
  const me = rawRequest(ME, [HOST, `Authorization: ${authorization}`]);
  let served = 0;
  api.app.addHook("onSend", (_request, _reply, payload, done) => {
    served++;
    done(null, payload);
  });
  const base = await api.listen();

  gate.freeze(); // Prevents any answer in the meantime.
  assert.deepEqual(await converse(base, me.repeat(10_000)), []);
  assert.equal(served, 0);
  gate.thaw();
  assert.equal((await sendRaw(base, me)).status, 200);
});
