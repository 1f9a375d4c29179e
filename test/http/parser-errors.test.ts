import assert from "node:assert/strict";
import { once } from "node:events";
import type { Socket } from "node:net";
import { test, type TestContext } from "node:test";
import type { App } from "../../src/http/app.ts";
import { Pipelines } from "../../src/http/pipelining.ts";
import { createDatabase } from "../support/database.ts";
import { startPartnerApi } from "../support/partner-api.ts";
import { aClient, rawRequest, sendRaw } from "../support/raw-http.ts";

const db = await createDatabase();

const LINGER_MS = 2_000;

test("an invalid request in any number of pieces is answered once", async (t) => {
  let release = () => undefined as unknown;
  const held = new Promise<string>((resolve) => (release = () => resolve("at last")));
  const { app, client } = await aConnection(t, (app) => app.get("/held", () => held));
  const { mock } = t.mock.method(Pipelines.prototype, "takeLast");

  client.write(rawRequest("GET /held HTTP/1.1", ["Host: localhost"]));
  await once(app.server, "request");
  for (let piece = 0; piece < 3; piece++) {
    client.write("nonsense\r\n\r\n");
    await once(app.server, "clientError");
  }
  release();
  assert.deepEqual(await statusesOn(client), ["HTTP/1.1 200", "HTTP/1.1 400"]);
  assert.equal(mock.callCount(), 1);
});

test("a client whose request is invalid has 2 s to read the error", async (t) => {
  const { client, accepted } = await aConnection(t);
  const socket = await accepted;
  t.mock.timers.enable({ apis: ["setTimeout"] });
  client.write("nonsense\r\n\r\n");
  assert.deepEqual(await statusesOn(client), ["HTTP/1.1 400"]);
  t.mock.timers.tick(LINGER_MS - 1);
  assert.equal(socket.destroyed, false);
  t.mock.timers.tick(1);
  assert.equal(socket.destroyed, true);
});

test("the answer to a request that is not HTTP, or too large, has a Date", async (t) => {
  const base = await startPartnerApi(t, db).listen();
  const tooLarge = rawRequest("GET / HTTP/1.1", [
    "Host: localhost",
    `X-Long: ${"x".repeat(20_000)}`,
  ]);
  for (const [bytes, status] of [
    ["nonsense\r\n\r\n", 400],
    [tooLarge, 431],
  ] as const) {
    const answer = await sendRaw(base, bytes);
    assert.equal(answer.status, status);
    const date = answer.headers["date"] ?? "";
    assert.equal(new Date(date).toUTCString(), date);
  }
});

/** A client that never ends its side of the connection. */
async function aConnection(t: TestContext, prepare?: (app: App) => unknown) {
  const { app, listen } = startPartnerApi(t, db);
  prepare?.(app);
  const base = await listen();
  const accepted = new Promise<Socket>((resolve) => app.server.once("connection", resolve));
  return { app, client: aClient(t, base, true), accepted };
}

/** The status lines of all answers after the server has ended its side. */
async function statusesOn(client: Socket) {
  let text = "";
  client.setEncoding("latin1").on("data", (more: string) => (text += more));
  await once(client, "end");
  return text.match(/HTTP\/1\.1 \d+/g);
}
