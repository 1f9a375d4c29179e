import assert from "node:assert/strict";
import { once } from "node:events";
import type { Socket } from "node:net";
import { test, type TestContext } from "node:test";
import type { AppOptions } from "../../src/http/build-app.ts";
import { createDatabase } from "../support/database.ts";
import { startPartnerApi } from "../support/partner-api.ts";
import { aClient, rawRequest } from "../support/raw-http.ts";

const db = await createDatabase();

const HEALTH = rawRequest("GET /healthz HTTP/1.1", ["Host: localhost"]);

type Timeouts = NonNullable<AppOptions["timeouts"]>;

const HASTY_MS = 100;
const PATIENT = { headers: 5_000, request: 5_000 };
/** More than the system's buffers hold for a client that does not read. */
const LARGE = 64 * 1024 * 1024;

/** The ways in which a client may block a connection, and the timeouts that end it. */
const STUCK: Record<string, { hasty: Timeouts; begin: (client: Socket) => void }> = {
  "that is silent": { hasty: { headers: HASTY_MS }, begin: (client) => client.resume() },
  "that is idle between two requests": {
    hasty: { idle: HASTY_MS },
    begin: (client) => client.resume().write(HEALTH),
  },
  "whose client does not read its answer": {
    hasty: { idle: HASTY_MS },
    begin: (client) => client.pause().write(HEALTH.replace("/healthz", "/large")),
  },
  "whose client never ends the head of its request": {
    hasty: { headers: HASTY_MS },
    begin: (client) => client.resume().write(HEALTH.slice(0, -2)),
  },
  "whose client never ends the body of its request": {
    hasty: { headers: HASTY_MS, request: HASTY_MS },
    begin: (client) => client.resume().write(`${HEALTH.slice(0, -2)}Content-Length: 9\r\n\r\n`),
  },
};

for (const [what, { hasty, begin }] of Object.entries(STUCK)) {
  test(`a connection ${what} is closed at its limit`, async (t) => {
    // On the same event loop, so that both have the same delays.
    const late = await aStuckConnection(t, PATIENT, (client) => client.resume());
    const stuck = await aStuckConnection(t, hasty, begin);
    const first = await Promise.race([
      once(late, "close").then(() => "a connection with a much later limit"),
      once(stuck, "close").then(() => what),
    ]);
    assert.equal(first, what);
  });
}

/** The listener's state of a connection whose client does only `begin`. */
async function aStuckConnection(
  t: TestContext,
  timeouts: Timeouts,
  begin: (client: Socket) => void,
): Promise<Socket> {
  const { app, listen } = startPartnerApi(t, db, { options: { timeouts } });
  app.get("/large", () => Buffer.alloc(LARGE));
  const base = await listen();
  const accepted = once(app.server, "connection") as Promise<[Socket]>;
  begin(aClient(t, base));
  const [socket] = await accepted;
  return socket;
}

test("a listener allows 10 s for a request's head, 15 s for all of it, and 75 s for an idle connection", (t) => {
  const { server } = startPartnerApi(t, db).app;
  const { headersTimeout, requestTimeout, keepAliveTimeout, timeout } = server;
  assert.deepEqual(
    { headersTimeout, requestTimeout, keepAliveTimeout, timeout },
    { headersTimeout: 10_000, requestTimeout: 15_000, keepAliveTimeout: 75_000, timeout: 75_000 },
  );
});
