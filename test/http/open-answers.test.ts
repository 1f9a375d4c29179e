import assert from "node:assert/strict";
import { once } from "node:events";
import type { Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { setImmediate } from "node:timers/promises";
import { pino } from "pino";
import { createDatabase } from "../support/database.ts";
import { startPartnerApi } from "../support/partner-api.ts";
import { aClient, rawRequest } from "../support/raw-http.ts";

const db = await createDatabase();

/** Sent late or never. For Node.js, a connection is idle after a whole request and its answer. */
const BODY = "x";
const ANSWER_MS = 25_000;
/** More than the system's buffers hold for a client that does not read. */
const LARGE_BYTES = 64 * 1024 * 1024;

test("an answer that its client has not read in time is not sent twice", async (t) => {
  const { client, told, makeLate } = await anUnreadAnswer(t);
  makeLate();
  client.destroy();
  assert.deepEqual(told, []);
});

for (const [what, rest] of [
  ["", [`Content-Length: ${BODY.length}`, "", ""]],
  [", nor one with half a request behind it,", ["", "GET /healthz"]],
] as const) {
  test(`an answer that its client has not read in time${what} does not delay a stop`, async (t) => {
    const { client, socket, makeLate, stop } = await anUnreadAnswer(t, rest.join("\r\n"));
    makeLate();
    await stop();
    const isCut = socket.destroyed;
    client.destroy();
    assert.ok(isCut);
  });
}

test("a connection in the middle of its answer ends when the service stops", async (t) => {
  const { client, socket, told, stop } = await anUnreadAnswer(t);
  await stop();
  assert.deepEqual([socket.destroyed, told], [false, []]);
  const next = rawRequest("GET /healthz HTTP/1.1", ["Host: localhost", "Connection: close"]);
  const { bytesRead } = socket;
  client.write(BODY + next);
  while (socket.bytesRead === bytesRead) await setImmediate();
  t.mock.timers.tick(1_000); // Until then, a connection without a request would be waited for.
  const chunks: Buffer[] = [];
  client.on("data", (chunk: Buffer) => chunks.push(chunk));
  await once(client, "close");
  const text = Buffer.concat(chunks).toString("latin1");
  assert.ok(text.length > LARGE_BYTES);
  assert.deepEqual(text.match(/HTTP\/1\.1 \d+/g), ["HTTP/1.1 200"]);
});

test("a request without a connection is answered while the service stops", async (t) => {
  const { app } = startPartnerApi(t, db);
  let release = () => undefined as unknown;
  const held = new Promise<string>((resolve) => (release = () => resolve("at last")));
  app.get("/held", () => held);
  const told: number[] = [];
  app.addHook("onResponse", (_request, { statusCode }, done) => {
    told.push(statusCode);
    done();
  });
  await app.listen({ host: "127.0.0.1", port: 0 });
  const answer = app.inject({ url: "/held" });
  await setImmediate();
  const closed = app.close();
  while (app.server.listening) await setImmediate();
  release();
  assert.equal((await answer).body, "at last");
  await closed;
  assert.deepEqual(told, [200]);
});

/**
 * An answer that its client reads only in part, on a clock that the test moves, and the listener's warnings.
 */
async function anUnreadAnswer(t: TestContext, rest = `Content-Length: ${BODY.length}\r\n\r\n`) {
  t.mock.timers.enable({ apis: ["setInterval", "setTimeout"] });
  const told: string[] = [];
  const logger = pino({ level: "warn" }, { write: (line) => told.push(line) });
  const { app, listen } = startPartnerApi(t, db, { options: { logger } });
  app.get("/large", () => Buffer.alloc(LARGE_BYTES));
  const base = await listen();
  const accepted = once(app.server, "connection") as Promise<[Socket]>;
  const client = aClient(t, base);
  client.write(`GET /large HTTP/1.1\r\nHost: localhost\r\n${rest}`);
  await once(client, "readable");
  const [socket] = await accepted;
  return {
    client,
    socket,
    told,
    makeLate: () => {
      const now = performance.now();
      t.mock.method(performance, "now", () => now + ANSWER_MS);
      t.mock.timers.tick(ANSWER_MS);
    },
    stop: async () => {
      void app.close();
      while (app.server.listening) await setImmediate();
    },
  };
}
