import assert from "node:assert/strict";
import { once } from "node:events";
import { test, type TestContext } from "node:test";
import { ONLY_GUARDED, startGuardedReceiver } from "../support/canaries.ts";
import { createClock } from "../support/clock.ts";
import type { Script } from "../support/receiver.ts";
import * as scripts from "../support/receiver-scripts.ts";
import {
  aPost,
  DELIVERED,
  names,
  type PairOptions,
  startSender,
  unreachable,
} from "../support/sender.ts";

const NO_TLS = unreachable("tls_error", "name_mismatch");
const HOST = "hooks.partner.test";
const OTHER = "hooks.other.test";
const HERE = [["127.0.0.2"]];
const LOOKUP = names({ [HOST]: HERE, [OTHER]: HERE, "partner.test": HERE });

async function startGuardedPair(t: TestContext, options: PairOptions = {}) {
  const sender = await startSender(t, { lookup: LOOKUP, policy: ONLY_GUARDED, ...options });
  const receiver = await startGuardedReceiver(t, options);
  return { receiver, send: (url = receiver.url()) => sender.send(aPost(url)) };
}

for (const [certified, outcome] of [
  ["*.partner.test", DELIVERED],
  ["*.test", NO_TLS],
  ["*", NO_TLS],
  ["*.hooks.partner.test", NO_TLS],
  ["partner.test", NO_TLS],
  ["hooks.partner.test.evil.test", NO_TLS],
] as const) {
  test(`a certificate for ${certified} is ${outcome === DELIVERED ? "good" : "not good"} for ${HOST}`, async (t) => {
    const { receiver, send } = await startGuardedPair(t, {
      host: HOST,
      certifiedHosts: [certified],
    });
    assert.deepEqual(await send(), outcome);
    assert.equal(receiver.requests.length, outcome === DELIVERED ? 1 : 0);
  });
}

test("a connection for one name serves no other name, even at the same address and port", async (t) => {
  const { receiver, send } = await startGuardedPair(t, { host: HOST });
  assert.deepEqual(await send(), DELIVERED);

  const elsewhere = receiver.url().replace(HOST, OTHER);
  assert.deepEqual(await send(elsewhere), NO_TLS);
  assert.deepEqual(await send(elsewhere.replace(OTHER, "127.0.0.2")), NO_TLS);
  assert.deepEqual([receiver.connections.length, receiver.requests.length], [3, 1]);
});

test("no part of an answer reaches the next delivery", async (t) => {
  const clock = createClock();
  const { receiver, send } = await startGuardedPair(t, { host: HOST, clock });
  const headers = {
    "set-cookie": ["a=b; Path=/", "c=d; Domain=partner.test"],
    "www-authenticate": "Basic realm=x",
    etag: '"x"',
    "last-modified": "Thu, 01 Jan 2026 00:00:00 GMT",
    "accept-ch": "Sec-CH-UA",
  };
  receiver.answer(scripts.status(401, { headers }), scripts.status(200));
  await send();
  await send();
  const [first, second] = receiver.requests;
  assert.deepEqual(second?.headers, first?.headers);
});

test("a receiver that sends data without a request loses its connection, and the data is ignored", async (t) => {
  const { receiver, send } = await startGuardedPair(t, { host: HOST });
  let speak: () => void = () => assert.fail("no request yet");
  const first: Script = (exchange) => {
    speak = () => exchange.socket.write("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
    scripts.status(200)(exchange);
  };
  receiver.answer(first, scripts.status(503));
  await send();
  const [connection] = receiver.connections;
  assert.ok(connection);
  const closed = once(connection, "close");
  speak();
  await closed;

  assert.deepEqual(await send(), { kind: "refused", httpStatus: 503 });
});

for (const [how, script] of [
  ["closes", scripts.hangUp],
  ["resets", scripts.reset],
] as const) {
  test(`a kept connection that the receiver ${how} just as we send uses up no attempt`, async (t) => {
    const { receiver, send } = await startGuardedPair(t, { host: HOST, nowMs: () => 0 });
    receiver.answer(scripts.status(200), script, scripts.status(202));
    await send();
    assert.deepEqual(await send(), { kind: "acknowledged", httpStatus: 202 });
    assert.deepEqual([receiver.connections.length, receiver.requests.length], [2, 3]);
  });
}

test("encoded line ends in a path or a query stay encoded", async (t) => {
  const { receiver, send } = await startGuardedPair(t, { host: HOST });
  const path = "/a%0d%0aX-Evil:%201?b=%0d%0a%0d%0aGET%20/";
  assert.deepEqual(await send(receiver.url(path)), DELIVERED);
  const { path: received, headers } = await receiver.next();
  assert.equal(received, path);
  assert.equal(headers["x-evil"], undefined);
  assert.equal(receiver.requests.length, 1);
});

test("the handshake's server name is never an address", async (t) => {
  const { receiver, send } = await startGuardedPair(t);
  assert.deepEqual(await send(), DELIVERED);
  assert.equal((await receiver.next()).servername, false);
});
