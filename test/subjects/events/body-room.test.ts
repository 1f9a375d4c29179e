import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import Fastify from "fastify";
import { boundBodies } from "../../../src/subjects/events/routes.ts";
import { createDatabase } from "../../support/database.ts";
import { PUBLISHER } from "../../support/operator-api.ts";
import { aPublisherApi } from "../../support/publisher-api.ts";
import { aClient } from "../../support/raw-http.ts";

const db = await createDatabase();

test("the bodies that are read at once are bounded, and a small one finds room again", async (t) => {
  const { app, ask, post, order } = await aPublisherApi(t, db);
  const address = await app.listen({ host: "127.0.0.1", port: 0 });
  /** A publisher that announces 4 MiB, gets 100, and sends nothing. */
  const announce = async () => {
    const socket = aClient(t, address);
    socket.write(
      `POST /api/v1/admin/events HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${PUBLISHER.token}\r\n` +
        `content-type: application/json\r\ncontent-length: ${4 * 1024 * 1024}\r\nexpect: 100-continue\r\n\r\n`,
    );
    const [answer] = (await once(socket, "data")) as [Buffer];
    return { socket, status: answer.toString().slice(9, 12) };
  };
  const waiting: Awaited<ReturnType<typeof announce>>[] = [];
  for (let i = 0; i < 8; i++) waiting.push(await announce());
  assert.deepEqual(new Set(waiting.map(({ status }) => status)), new Set(["100"]));
  const refused = await announce();
  assert.equal(refused.status, "503");
  refused.socket.destroy();
  assert.equal((await post(order)).status, 503);
  const asOther = { method: "POST", url: "events", body: order } as const;
  assert.equal((await ask(asOther)).status, 202, "another token has room");

  const [first] = waiting;
  assert.ok(first);
  first.socket.destroy();
  let { status } = await post(order);
  while (status === 503) {
    await new Promise(setImmediate); // Until the end of its body has arrived.
    ({ status } = await post(order));
  }
  assert.equal(status, 202);
  for (const { socket } of waiting) socket.destroy(); // The listener would wait for them at its end.
});

test("a body keeps its room until its handler ends, even if the client has disconnected", async (t) => {
  const app = Fastify();
  t.after(() => app.close());
  app.decorateRequest("operator", "publisher");
  app.setErrorHandler((_error, _request, reply) => reply.code(503).send());
  boundBodies(app, { bytesMax: 40, bodyMax: 20 });
  let hasBegun: () => void = () => undefined;
  let hasLeft: () => void = () => undefined;
  let end: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => (hasBegun = resolve));
  const left = new Promise<void>((resolve) => (hasLeft = resolve));
  const ended = new Promise<void>((resolve) => (end = resolve));
  let handled = 0;
  app.post("/", async (_request, reply) => {
    if (++handled > 1) return "done";
    reply.raw.once("close", hasLeft);
    hasBegun();
    await ended;
    return "done";
  });
  const payload = '"0123456789abcdefg"';
  const headers = { "content-type": "application/json" };
  const post = () => app.inject({ method: "POST", url: "/", headers, payload });

  const address = await app.listen({ host: "127.0.0.1", port: 0 });
  const socket = aClient(t, address);
  socket.write(
    "POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n" +
      `content-length: ${payload.length}\r\n\r\n${payload}`,
  );
  await begun;
  socket.destroy();
  await left;
  assert.equal((await post()).statusCode, 503);

  end();
  await new Promise(setImmediate);
  assert.equal((await post()).statusCode, 200);
});
