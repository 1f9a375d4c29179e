import assert from "node:assert/strict";
import { createServer, type IncomingMessage } from "node:http";
import { test, type TestContext } from "node:test";
import { createForward } from "../../src/listen/replay.ts";
import { openPort } from "../support/free-port.ts";

interface Got {
  request: IncomingMessage;
  body: Buffer;
}

/** A program that answers with a status, and the requests that it got. */
async function aProgram(t: TestContext, status: number) {
  const got: Got[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      got.push({ request, body: Buffer.concat(chunks) });
      response.writeHead(status, { location: "/elsewhere" }).end("ignored");
    });
  });
  const port = await openPort(t, server);
  return { got, url: new URL(`http://127.0.0.1:${port}/hooks?from=listen`) };
}

const RUNNING = new AbortController().signal;
const BODY = Buffer.from('{ "text": "é\\u0000",\n"n": 1.0 }');
const SENT = [
  ...["Host", "localhost:9443", "Connection", "keep-alive", "X-VC-Signature", "sha256=00"],
  ...["x-twice", "a", "X-Twice", "b", "Content-Length", String(BODY.length)],
];

test("a program gets the same bytes and headers, and its status is the answer", async (t) => {
  for (const status of [204, 301, 500]) {
    const { got, url } = await aProgram(t, status);
    const forward = createForward(url, RUNNING);
    assert.equal(await forward({ method: "POST", rawHeaders: SENT, body: BODY }), status);
    const [{ request, body } = assert.fail()] = got;
    assert.deepEqual(body, BODY);
    assert.equal(request.url, "/hooks?from=listen");
    assert.deepEqual(request.rawHeaders, [
      ...["X-VC-Signature", "sha256=00", "x-twice", "a", "X-Twice", "b"],
      ...["Host", url.host, "Content-Length", String(BODY.length), "Connection", "close"],
    ]);
  }
});

test("a program that does not answer is reported by the error's code", async (t) => {
  const { url } = await aProgram(t, 204);
  const nobody = new URL(url);
  nobody.port = "1";
  const answer = await createForward(
    nobody,
    RUNNING,
  )({ method: "POST", rawHeaders: [], body: BODY });
  assert.equal(answer, "ECONNREFUSED");
});

test("a stop ends a request that the program does not answer", async (t) => {
  const stop = new AbortController();
  const port = await openPort(
    t,
    createServer(() => stop.abort()),
  );
  const forward = createForward(new URL(`http://127.0.0.1:${port}/`), stop.signal);
  assert.equal(await forward({ method: "POST", rawHeaders: [], body: BODY }), "ABORT_ERR");
});
