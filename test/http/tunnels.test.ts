import assert from "node:assert/strict";
import { once } from "node:events";
import type { Socket } from "node:net";
import { test } from "node:test";
import { Busy } from "../../src/lib/errors.ts";
import { createDatabase } from "../support/database.ts";
import { EVENTS, startPartnerApi } from "../support/partner-api.ts";
import { aListeningApi, ask } from "../support/problems.ts";
import { aClient, rawRequest } from "../support/raw-http.ts";

const db = await createDatabase();

const WEBHOOKS = "/api/v1/partner/webhooks";
const HOST = "Host: localhost";

test("a client that sends CONNECT and resets the connection does no harm", async (t) => {
  const { api, base } = await aListeningApi(t, db);
  for (let i = 0; i < 20; i++) {
    const asked = once(api.app.server, "connect");
    const socket = aClient(t, base);
    socket.write(rawRequest("CONNECT example.com:443 HTTP/1.1", [HOST]));
    await asked;
    socket.resetAndDestroy();
  }
  assert.equal((await ask(`${base}/healthz`)).status, 200);
});

test("a client that sends CONNECT after a running request does no harm either", async (t) => {
  let release = () => undefined as unknown;
  const released = new Promise<void>((resolve) => (release = resolve));
  const checkDestination = () => released.then(() => Promise.reject(new Busy()));
  const api = startPartnerApi(t, db, { checkDestination });
  const base = await api.listen();
  const { authorization } = await api.aKeyWith("webhooks:manage");
  const asked = once(api.app.server, "connect") as Promise<[unknown, Socket]>;
  const client = aClient(t, base);
  const body = JSON.stringify({ url: "https://hooks.example.com/", events: EVENTS });
  const head = [HOST, `Authorization: ${authorization}`, "Content-Type: application/json"];
  const length = `Content-Length: ${body.length}`;
  const tunnel = rawRequest("CONNECT example.com:443 HTTP/1.1", [HOST]);
  client.write(rawRequest(`POST ${WEBHOOKS} HTTP/1.1`, [...head, length], body) + tunnel);
  const [, socket] = await asked;
  const closed = new Promise((resolve) => socket.once("close", resolve));
  client.resetAndDestroy();
  await closed;
  release();
});
