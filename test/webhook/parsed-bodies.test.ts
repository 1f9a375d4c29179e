import assert from "node:assert/strict";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { test, type TestContext } from "node:test";
import { once } from "node:events";
import express from "express";
import Fastify, { type FastifyInstance } from "fastify";
import { Hono } from "hono";
import { verify, type Delivery } from "../../src/webhook/verify.ts";
import { aDelivery, SECRET } from "./delivery.ts";

/** Calls verify as JavaScript does, without type checks. */
async function verdictOrError(headers: Delivery["headers"], body: unknown): Promise<string> {
  try {
    return (await verify({ secret: SECRET, headers, body: body as Uint8Array })).verdict;
  } catch (error) {
    assert.ok(error instanceof TypeError);
    return error.message;
  }
}

test("express.json() before verify is explained; express.raw() verifies", async (t) => {
  const app = express();
  const answer: express.RequestHandler = async ({ headers, body }, response) => {
    response.send(await verdictOrError(headers, body));
  };
  app.post("/raw", express.raw({ type: () => true }), answer);
  app.post("/none", answer);
  app.post("/parsed", express.json(), answer);
  const post = await serve(t, app.listen(0, "127.0.0.1"));

  assert.equal(await post("/raw"), "valid");
  assert.match(await post("/parsed"), /raw bytes.*already parsed.*express\.raw/);
  assert.match(await post("/none"), /raw bytes.*is missing.*express\.raw/);
});

test("Fastify's default parser is explained; a parser that returns bytes verifies", async (t) => {
  const post = async (app: FastifyInstance) => {
    t.after(() => app.close());
    app.post("/", ({ headers, body }) => verdictOrError(headers, body));
    const { headers, body } = aDelivery();
    return (await app.inject({ method: "POST", url: "/", headers, payload: Buffer.from(body) }))
      .body;
  };
  const raw = Fastify();
  raw.removeAllContentTypeParsers();
  raw.addContentTypeParser("*", { parseAs: "buffer" }, (_, body, done) => {
    done(null, body);
  });
  assert.equal(await post(raw), "valid");
  assert.match(await post(Fastify()), /raw bytes.*already parsed.*parseAs "buffer"/);
});

test("Hono's json() is explained; its arrayBuffer() verifies", async () => {
  const app = new Hono();
  app.post("/raw", async (c) =>
    c.text(await verdictOrError(c.req.raw.headers, await c.req.arrayBuffer())),
  );
  app.post("/names", async (c) => c.text(await verdictOrError(c.req.header(), await c.req.blob())));
  app.post("/parsed", async (c) =>
    c.text(await verdictOrError(c.req.raw.headers, await c.req.json())),
  );
  const { headers, body } = aDelivery();
  const post = async (path: string) =>
    (await app.request(path, { method: "POST", headers, body })).text();

  assert.equal(await post("/raw"), "valid");
  assert.match(await post("/names"), /was not read/);
  assert.match(await post("/parsed"), /raw bytes.*already parsed.*c\.req\.arrayBuffer/);
});

test("a Fetch Request that was not read or not awaited is explained", async () => {
  const { headers, body } = aDelivery();
  const aRequest = () => new Request("https://localhost", { method: "POST", headers, body });

  assert.equal(await verdictOrError(aRequest().headers, await aRequest().arrayBuffer()), "valid");
  assert.match(await verdictOrError(aRequest().headers, aRequest().arrayBuffer()), /await it/);
  assert.match(await verdictOrError(aRequest().headers, aRequest().body), /was not read/);
  assert.match(await verdictOrError(aRequest().headers, aRequest()), /was not read/);
  assert.match(await verdictOrError(aRequest().headers, 7), /got a number/);
});

async function serve(t: TestContext, server: Server) {
  await once(server, "listening");
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  return async (path: string) => {
    const { headers, body } = aDelivery();
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: "POST",
      headers,
      body,
    });
    return response.text();
  };
}
