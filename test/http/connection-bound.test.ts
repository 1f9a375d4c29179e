import assert from "node:assert/strict";
import { once } from "node:events";
import type { Socket } from "node:net";
import { test, type TestContext } from "node:test";
import type { Vetted } from "../../src/egress/index.ts";
import type { Parts } from "../../src/subjects/dependencies.ts";
import { createDatabase } from "../support/database.ts";
import { EVENTS, startPartnerApi } from "../support/partner-api.ts";
import { aClient, rawRequest, sendRaw } from "../support/raw-http.ts";

const db = await createDatabase();

const READY = rawRequest("GET /readyz HTTP/1.1", ["Host: localhost"]);
const REFUSED: Vetted = { ok: false, refusal: "dns_error", detail: "" };

/** A listener with this maximum of connections, and a caller's requests to it. */
async function aListener(
  t: TestContext,
  maxConnections: number,
  parts: Partial<Pick<Parts, "checkDestination">> = {},
) {
  const { app, listen, aKeyWith } = startPartnerApi(t, db, {
    options: { maxConnections },
    ...parts,
  });
  const base = await listen();
  const headers = [
    "Host: localhost",
    `Authorization: ${(await aKeyWith("webhooks:manage")).authorization}`,
  ];
  const body = JSON.stringify({ url: "https://hooks.test/", events: EVENTS });
  const isReady = async () => assert.equal((await sendRaw(base, READY)).status, 200);
  return {
    base,
    isReady,
    requested: () => once(app.server, "request"),
    me: rawRequest("GET /api/v1/partner/me HTTP/1.1", headers),
    create: rawRequest(
      "POST /api/v1/partner/webhooks HTTP/1.1",
      [...headers, "Content-Type: application/json", `Content-Length: ${body.length}`],
      body,
    ),
    /**
     * A connection that has sent this text. If the text is a whole request, the connection has its answer.
     */
    open: async (sent = "", isWhole = false) => {
      const client = aClient(t, base);
      await once(client, "connect");
      client.write(sent);
      if (isWhole) assert.match(String(await once(client, "data")), /^HTTP\/1\.1 200 /);
      return client.resume();
    },
  };
}

/** Returns the name of the client that is closed. */
async function closedOf<Name extends string>(clients: Record<Name, Socket>): Promise<string> {
  const named = Object.entries<Socket>(clients);
  return Promise.race(
    named.map(
      ([name, client]) => new Promise<string>((resolve) => client.on("close", () => resolve(name))),
    ),
  );
}

test("a full listener closes the longest idle connection and serves the new one", async (t) => {
  const { open, isReady } = await aListener(t, 3);
  const [oldest, used, newest] = [await open(), await open(), await open()];
  used.write(READY);
  await once(used, "data");
  const closed = closedOf({ oldest, used, newest });
  await isReady();
  assert.equal(await closed, "oldest");
});

test("any number of silent connections does not block a full listener", async (t) => {
  const { open, isReady } = await aListener(t, 10);
  for (let i = 0; i < 100; i++) await open();
  await isReady();
});

for (const [what, sent] of [
  ["idle connections", READY],
  ["requests without an end", READY.slice(0, -2)],
] as const) {
  test(`strangers' ${what} are closed before the idle connection of a caller`, async (t) => {
    const { open, me, isReady } = await aListener(t, 2);
    const caller = await open(me, true);
    const stranger = await open(sent, sent === READY);
    const closed = closedOf({ caller, stranger });
    await isReady();
    assert.equal(await closed, "stranger");
  });
}

test("idle connections of callers do not block a full listener either", async (t) => {
  const { open, me, isReady } = await aListener(t, 2);
  const [first, second] = [await open(me, true), await open(me, true)];
  const closed = closedOf({ first, second });
  await isReady();
  assert.equal(await closed, "first");
});

test("an incomplete request is closed to make room, even with a key", async (t) => {
  const { open, create, isReady, requested } = await aListener(t, 1);
  const arriving = requested();
  const client = await open(create.slice(0, -2));
  await arriving;
  const closed = closedOf({ client });
  await isReady();
  await closed;
});

test("a running request of a caller is not closed: the new connection is", async (t) => {
  let begin: () => void = () => undefined;
  let end: (vetted: Vetted) => void = () => undefined;
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const checked = new Promise<Vetted>((resolve) => (end = resolve));
  const checkDestination = () => {
    begin();
    return checked;
  };
  const { base, open, create, isReady } = await aListener(t, 1, { checkDestination });
  const client = await open();
  client.pause().write(create);
  await begun;
  await assert.rejects(sendRaw(base, READY));

  end(REFUSED);
  client.resume();
  assert.match(String(await once(client, "data")), /^HTTP\/1\.1 422 /);
  await isReady();
});
