import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { test } from "node:test";
import { createDatabase } from "../support/database.ts";
import { startPartnerApi } from "../support/partner-api.ts";
import { rawRequest, sendRaw } from "../support/raw-http.ts";

const db = await createDatabase();

const HEALTH = rawRequest("GET /healthz HTTP/1.1", ["Host: localhost"]);

test("a connection beyond the most that a listener takes is closed, and room made is room for the next", async (t) => {
  const { app, listen } = startPartnerApi(t, db, { options: { maxConnections: 2 } });
  const base = await listen();
  const forgotten = new Promise<void>((resolve) => {
    app.server.once("connection", (socket: Socket) => socket.once("close", () => resolve()));
  });
  const port = Number(new URL(base).port);
  const [first, second] = [connect(port, "127.0.0.1"), connect(port, "127.0.0.1")];
  t.after(() => second.destroy());
  await Promise.all([once(first, "connect"), once(second, "connect")]);

  await assert.rejects(sendRaw(base, HEALTH));
  second.write(HEALTH);
  assert.match(String(await once(second, "data")), /^HTTP\/1\.1 200 /);

  first.end();
  await forgotten;
  assert.equal((await sendRaw(base, HEALTH)).status, 200);
});

test("a listener gives a request's head 10 s, all of it 15 s, an idle connection 75 s, and takes 20,000", (t) => {
  const { server } = startPartnerApi(t, db).app;
  const { headersTimeout, requestTimeout, keepAliveTimeout, timeout, maxConnections } = server;
  assert.deepEqual(
    { headersTimeout, requestTimeout, keepAliveTimeout, timeout, maxConnections },
    {
      headersTimeout: 10_000,
      requestTimeout: 15_000,
      keepAliveTimeout: 75_000,
      timeout: 75_000,
      maxConnections: 20_000,
    },
  );
});
