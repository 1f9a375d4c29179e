import assert from "node:assert/strict";
import { once } from "node:events";
import type { Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { setImmediate } from "node:timers/promises";
import { pino } from "pino";
import { column } from "../support/columns.ts";
import { createDatabase } from "../support/database.ts";
import { startPartnerApi } from "../support/partner-api.ts";
import { problemCheck } from "../support/problems.ts";
import { aClient, parseAll, rawRequest } from "../support/raw-http.ts";

const db = await createDatabase();

const HOST = "Host: localhost";
const HEALTH = rawRequest("GET /healthz HTTP/1.1", [HOST]);
const HELD = rawRequest("GET /held HTTP/1.1", [HOST]);
const JSON_HEAD = [HOST, "Content-Type: application/json"];
const HALF_BODY = rawRequest("POST /open HTTP/1.1", [...JSON_HEAD, "Content-Length: 9"], "{");
const CHUNK = rawRequest("POST /open HTTP/1.1", [...JSON_HEAD, "Transfer-Encoding: chunked"], "1");

/** The input of a connection when the service stops, and the statuses of its answers. */
const UNFINISHED: Record<string, { sent: string[]; statuses: number[] }> = {
  "half a head": { sent: ["GET /healthz HTTP/1.1\r\nHo"], statuses: [503] },
  "half a head behind an answer": { sent: [HEALTH, "GET /hea"], statuses: [200, 503] },
  "half a body": { sent: [HALF_BODY], statuses: [503] },
  "half a chunk": { sent: [CHUNK], statuses: [503] },
  "half a body behind a running request": { sent: [HELD, HALF_BODY], statuses: [200, 503] },
};

for (const [what, { sent, statuses }] of Object.entries(UNFINISHED)) {
  test(
    `a stop does not wait for the rest of ${what}, and refuses it with 503`,
    { timeout: 60_000 },
    async (t) => {
      const { api, send, stop, outages } = await aConnection(t);
      const check = await problemCheck(api);
      for (const bytes of sent) await send(bytes);
      t.mock.timers.enable({ apis: ["setTimeout"] }); // No time passes.
      const answers = await stop();
      assert.deepEqual(column(answers, "status"), statuses);
      const last = answers.at(-1);
      assert.ok(last);
      const { detail } = check(last, "unavailable");
      assert.match(detail, /stopping/);
      assert.equal(last.headers["connection"], "close");
      assert.equal(last.headers["retry-after"], "1");
      assert.deepEqual(outages, []);
    },
  );
}

test("a request whose key is checked during a stop is refused once, without its body", async (t) => {
  const { api, send, stop, warnings } = await aConnection(t);
  const { authorization } = await api.aKeyWith("webhooks:manage");
  const head = [...JSON_HEAD, `Authorization: ${authorization}`, "Content-Length: 9"];
  await send(rawRequest("POST /api/v1/partner/webhooks HTTP/1.1", head, "{"));
  const answers = await stop();
  assert.deepEqual(column(answers, "status"), [503]);
  assert.deepEqual(warnings, []);
});

test("complete pipelined requests are all served before the service stops", async (t) => {
  const { send, stop } = await aConnection(t);
  await send(HELD + HEALTH + HEALTH);
  const answers = await stop();
  assert.deepEqual(
    answers.map(({ status, headers }) => [status, headers["connection"]]),
    [
      [200, "keep-alive"],
      [200, "keep-alive"],
      [200, "close"],
    ],
  );
});

test("a request that has arrived before a stop is served", async (t) => {
  const { client, send, stop } = await aConnection(t);
  await send(HEALTH);
  client.write(HEALTH);
  const answers = await stop();
  assert.deepEqual(column(answers, "status"), [200, 200]);
});

test("a request that is on its way over a new connection at a stop is served", async (t) => {
  const { client, stop } = await aConnection(t);
  const stopped = stop();
  for (let iterations = 0; iterations < 5; iterations++) await setImmediate();
  client.write(HEALTH);
  const answers = await stopped;
  assert.deepEqual(column(answers, "status"), [200]);
  assert.deepEqual(answers[0]?.headers["connection"], "close");
});

for (const [when, sent] of Object.entries({ "from the start": "", "after an answer": HEALTH })) {
  test(`a connection that is silent ${when} is closed without an answer`, async (t) => {
    const { send, stop } = await aConnection(t);
    await send(sent);
    assert.equal((await stop()).length, sent === "" ? 0 : 1);
  });
}

/**
 * A client of a listener, and a function that stops the listener. `/held` is answered when the stop has
 * begun.
 */
async function aConnection(t: TestContext) {
  const outages: unknown[] = [];
  const warnings: string[] = [];
  const logger = pino({ level: "warn" }, { write: (line) => warnings.push(line) });
  const onUnavailable = (error: unknown) => outages.push(error);
  const timeouts = { idle: 0 }; // Never.
  const api = startPartnerApi(t, db, { options: { logger, onUnavailable, timeouts } });
  const { app } = api;
  let release = () => undefined as unknown;
  const held = new Promise<string>((resolve) => (release = () => resolve("at last")));
  app.get("/held", () => held);
  app.post("/open", () => "never");

  const base = await api.listen();
  const accepted = once(app.server, "connection") as Promise<[Socket]>;
  const client = aClient(t, base, true);
  let text = "";
  client.setEncoding("latin1").on("data", (more: string) => (text += more));
  const [socket] = await accepted;

  return {
    api,
    client,
    outages,
    warnings,
    /** Sends these bytes and resolves once the listener has read them. */
    send: async (bytes: string) => {
      client.write(bytes);
      while (socket.bytesRead < client.bytesWritten) await setImmediate();
    },
    /** Stops the service and resolves to everything that was answered on the connection. */
    stop: async () => {
      const ended = once(client, "end");
      const closed = app.close();
      while (app.server.listening) await setImmediate();
      release();
      await Promise.all([closed, ended]);
      return parseAll(text);
    },
  };
}
