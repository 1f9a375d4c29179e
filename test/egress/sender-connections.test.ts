import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { startReceiver } from "../support/receiver.ts";
import * as scripts from "../support/receiver-scripts.ts";
import {
  aPost,
  DELIVERED,
  names,
  RECEIVERS,
  startPair,
  startSender,
  unreachable,
} from "../support/sender.ts";

const HOST = "hooks.partner.test";
const PATIENCE = { timeout: 10_000 };
const A_MINUTE_MS = 60_000;

/** However slow this machine is, the receiver closes the connection as we send. */
const AT_ONCE = { nowMs: () => 0 };

test("a connection is kept for the next delivery", async (t) => {
  const { receiver, send } = await startPair(t);
  receiver.answer(scripts.status(200, { body: "thank you" }));
  for (let i = 0; i < 3; i++) assert.deepEqual(await send(), DELIVERED);
  assert.equal(receiver.connections.length, 1);
});

for (const [what, head] of [
  ["in HTTP/1.0", "HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok"],
  ["that wishes to close", "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"],
  [
    "that is kept for no time",
    "HTTP/1.1 200 OK\r\nkeep-alive: timeout=1\r\ncontent-length: 0\r\n\r\n",
  ],
] as const) {
  test(`a connection is closed after an answer ${what}`, async (t) => {
    const { receiver, send } = await startPair(t);
    receiver.answer(scripts.raw(head));
    for (let i = 0; i < 2; i++) assert.deepEqual(await send(), DELIVERED);
    assert.equal(receiver.connections.length, 2);
  });
}

test(
  "an idle connection is closed before the receiver closes it",
  { timeout: 15_000 },
  async (t) => {
    const { receiver, send } = await startPair(t);
    receiver.answer(
      scripts.raw("HTTP/1.1 200 OK\r\nkeep-alive: timeout=3\r\ncontent-length: 0\r\n\r\n"),
    );
    for (let i = 0; i < 2; i++) assert.deepEqual(await send(), DELIVERED);
    const [kept, ...others] = receiver.connections;
    assert.ok(kept);
    assert.deepEqual(others, []);
    if (!kept.closed) await once(kept, "close");
  },
);

test("the deadline of an attempt does not end the next one on its connection", async (t) => {
  const { receiver, send } = await startPair(t, { timeoutMs: 2_500 });
  await send();
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  receiver.answer((exchange) => setTimeout(() => scripts.status(200)(exchange), 1_250));
  assert.deepEqual(await send(), DELIVERED);
  assert.equal(receiver.connections.length, 1);
});

test("the byte limit applies to each answer, not to the connection", async (t) => {
  const { receiver, send } = await startPair(t);
  receiver.answer(scripts.status(200, { body: Buffer.alloc(12 * 1024) }));
  for (let i = 0; i < 12; i++) await send();
  assert.deepEqual([receiver.connections.length, receiver.requests.length], [1, 12]);
});

test("a body over 64 KiB closes its connection", { timeout: 15_000 }, async (t) => {
  const { receiver, send } = await startPair(t);
  receiver.answer(scripts.status(200, { body: Buffer.alloc(64 * 1024 + 1) }));
  assert.deepEqual(await send(), DELIVERED);
  for (const socket of receiver.connections) if (!socket.closed) await once(socket, "close");
});

test("simultaneous deliveries to a receiver that answers slowly use separate connections", async (t) => {
  const { receiver, send } = await startPair(t);
  receiver.answer(scripts.together(3, scripts.status(200)));
  const outcomes = await Promise.all(["/a", "/b", "/c"].map((path) => send(receiver.url(path))));
  assert.deepEqual(outcomes, [DELIVERED, DELIVERED, DELIVERED]);
  assert.equal(receiver.connections.length, 3);
  assert.deepEqual(receiver.requests.map(({ path }) => path).sort(), ["/a", "/b", "/c"]);
});

test("simultaneous deliveries to a receiver that answers at once share connections", async (t) => {
  const { receiver, send } = await startPair(t);
  const outcomes = await Promise.all(Array.from({ length: 32 }, () => send()));
  assert.deepEqual(new Set(outcomes.map(({ kind }) => kind)), new Set(["acknowledged"]));
  assert.ok(receiver.connections.length < 16, `${receiver.connections.length} connections`);
});

test(
  "deliveries to a receiver that closes its connections do not wait for each other",
  PATIENCE,
  async (t) => {
    const { receiver, send } = await startPair(t, { timeoutMs: 20 * 2 * PATIENCE.timeout });
    const closing = scripts.status(200, { headers: { Connection: "close" } });
    receiver.answer(closing);
    await send();
    receiver.answer(scripts.together(3, closing));
    await Promise.all([send(), send(), send()]);
    assert.equal(receiver.connections.length, 4);
  },
);

test("if a kept connection resets while sending, the same attempt repeats the request on a new one", async (t) => {
  const times = [1, 2, 3].map((ms) => new Date(ms));
  const { receiver, send } = await startPair(t, {
    ...AT_ONCE,
    clock: () => times.shift() ?? new Date(0),
  });
  receiver.answer(scripts.resetWhenReused(scripts.status(200)));
  await send();
  assert.deepEqual(await send(), DELIVERED);

  const [, lost, again] = receiver.requests;
  assert.equal(receiver.requests.length, 3);
  assert.deepEqual(again?.headers, lost?.headers);
  assert.notEqual(again?.connection, lost?.connection);
});

test("a kept connection that the receiver has closed is not used", async (t) => {
  const { receiver, send } = await startPair(t);
  await send();
  const [idle] = receiver.connections;
  assert.ok(idle);
  idle.destroy();
  assert.deepEqual(await send(), DELIVERED);
  assert.equal(receiver.requests.length, 2);
});

test("a kept connection that closes long after the request fails the attempt", async (t) => {
  let nowMs = 0;
  const { receiver, send } = await startPair(t, { nowMs: () => nowMs });
  await send();
  receiver.answer((exchange) => {
    nowMs += A_MINUTE_MS;
    scripts.reset(exchange);
  });
  assert.deepEqual(await send(), unreachable("connection_reset", "after_request"));
  assert.equal(receiver.requests.length, 2);
});

test("the retry on a fresh connection is made once", async (t) => {
  const { receiver, send } = await startPair(t, AT_ONCE);
  receiver.answer(scripts.status(200), scripts.reset);
  await send();
  assert.deepEqual(await send(), unreachable("connection_reset", "after_request"));
  assert.equal(receiver.requests.length, 3);
});

test("a request is not repeated after the answer has begun", async (t) => {
  const { receiver, send } = await startPair(t);
  receiver.answer(scripts.status(200), scripts.rawAndReset("HTTP/1.1 200 OK\r\nx: "));
  await send();
  assert.deepEqual(await send(), unreachable("connection_reset", "after_request"));
  assert.equal(receiver.requests.length, 2);
});

test("a name is looked up for each attempt, and is not contacted after it became private", async (t) => {
  const lookup = names({ [HOST]: [["127.0.0.2"], ["127.0.0.1"]] });
  const { receiver, send } = await startPair(t, { host: HOST, lookup });
  const canary = await startReceiver(t, { address: "127.0.0.1", port: receiver.port });
  assert.deepEqual(await send(), DELIVERED);

  assert.deepEqual(await send(), unreachable("address_not_public"));
  assert.equal(receiver.requests.length, 1); // The open connection was not used either.
  assert.equal(canary.connections.length, 0);
});

test("a host with one address that is not public is not contacted", async (t) => {
  const lookup = names({ [HOST]: [["127.0.0.2", "10.0.0.1"]] });
  const { receiver, send } = await startPair(t, { host: HOST, lookup });
  assert.deepEqual(await send(), unreachable("address_not_public"));
  assert.equal(receiver.connections.length, 0);
});

test("deliveries follow a name that moves", async (t) => {
  const lookup = names({ [HOST]: [["127.0.0.2"], ["127.0.0.3"]] });
  const sender = await startSender(t, { lookup });
  const old = await startReceiver(t, { host: HOST });
  const now = await startReceiver(t, { host: HOST, address: "127.0.0.3", port: old.port });
  await sender.send(aPost(old.url()));
  await sender.send(aPost(old.url()));
  assert.deepEqual([old.requests.length, now.requests.length], [1, 1]);
});

test("the handshake and the Host header contain the host name", async (t) => {
  const { receiver, send } = await startPair(t, {
    host: HOST,
    lookup: names({ [HOST]: [["127.0.0.2"]] }),
  });
  assert.deepEqual(await send(), DELIVERED);
  const { headers, servername } = await receiver.next();
  assert.equal(headers.host, `${HOST}:${receiver.port}`);
  assert.equal(servername, HOST);
});

test("IPv4 addresses are tried before IPv6 ones", async (t) => {
  const { receiver, send } = await startPair(t, {
    host: HOST,
    lookup: names({ [HOST]: [["::1", "127.0.0.2"]] }),
  });
  const other = await startReceiver(t, { host: HOST, address: "::1", port: receiver.port });
  assert.deepEqual(await send(), DELIVERED);
  assert.equal(other.connections.length, 0);
});

test("only the first few of a host's hundreds of addresses are tried", async (t) => {
  const addresses = [...Array<string>(16).fill("127.0.0.3"), "127.0.0.2"];
  const { send } = await startPair(t, { host: HOST, lookup: names({ [HOST]: [addresses] }) });
  assert.deepEqual(await send(), unreachable("connection_refused"));
});

test("addresses are tried in turn until one answers", async (t) => {
  const lookup = names({ [HOST]: [["::1", "127.0.0.3", "127.0.0.2"]] });
  const { send } = await startPair(t, { host: HOST, lookup });
  assert.deepEqual(await send(), DELIVERED);
});

test("a receiver that has only IPv6 gets its deliveries", async (t) => {
  const { send } = await startPair(t, {
    host: HOST,
    address: "::1",
    lookup: names({ [HOST]: [["::1"]] }),
  });
  assert.deepEqual(await send(), DELIVERED);
});

test("an IPv6 literal is contacted without a look-up", async (t) => {
  const { receiver, send } = await startPair(t, { address: "::1" });
  assert.deepEqual(await send(), DELIVERED);
  const { headers, servername } = await receiver.next();
  assert.equal(headers.host, `[::1]:${receiver.port}`);
  assert.equal(servername, false);
});

test("an operator's exception for an IPv4 block includes its mapped spelling", async (t) => {
  const { receiver, send } = await startPair(t, {
    certifiedHosts: ["127.0.0.2", "::ffff:7f00:2"],
    policy: RECEIVERS,
  });
  const url = receiver.url().replace("127.0.0.2", "[::ffff:7f00:2]");
  assert.deepEqual(await send(url), DELIVERED);
});

test("the longest idle connection is closed above the maximum of kept ones", async (t) => {
  const sender = await startSender(t, { maxConnections: 2 });
  const [a, b, c] = await Promise.all([startReceiver(t), startReceiver(t), startReceiver(t)]);
  for (const receiver of [a, b, c, b, a]) await sender.send(aPost(receiver.url()));
  assert.deepEqual([a.connections.length, b.connections.length, c.connections.length], [2, 1, 1]);
});

test("connections that were opened at once are kept only up to the maximum", async (t) => {
  const { receiver, send } = await startPair(t, { maxConnections: 2 });
  receiver.answer(scripts.together(5, scripts.status(200)));
  for (let round = 0; round < 2; round++) {
    await Promise.all(Array.from({ length: 5 }, () => send()));
  }
  assert.equal(receiver.connections.length, 8);
});

test("a connection that was cut off during a body uses no room", async (t) => {
  const sender = await startSender(t, { maxConnections: 1 });
  const [a, b, c] = await Promise.all([startReceiver(t), startReceiver(t), startReceiver(t)]);
  a.answer(scripts.flood("HTTP/1.1 200 OK\r\n\r\n", Buffer.alloc(16 * 1024)));
  await sender.send(aPost(a.url()));
  for (const socket of a.connections) if (!socket.closed) await once(socket, "close");

  for (const receiver of [b, c, b]) await sender.send(aPost(receiver.url()));
  assert.deepEqual([b.connections.length, c.connections.length], [2, 1]);
});

test("many connections are all kept while their answers end", async (t) => {
  const { receiver, send } = await startPair(t);
  receiver.answer(scripts.together(150, scripts.status(200, { body: "thank you" })));
  for (let round = 0; round < 2; round++) {
    await Promise.all(Array.from({ length: 150 }, () => send()));
  }
  assert.equal(receiver.requests.length, 300);
  assert.equal(receiver.connections.length, 150);
});

test("closing ends attempts in flight and all connections", async (t) => {
  const { sender, receiver, send } = await startPair(t);
  await send();
  receiver.answer(scripts.hang);
  const inFlight = [send(), send()];
  while (receiver.requests.length < 3) await receiver.next();

  const closed = receiver.connections.map((socket) => once(socket, "close"));
  await sender.close();
  for (const attempt of inFlight) assert.equal((await attempt).kind, "internal-fault");
  await Promise.all(closed);
  assert.equal((await send()).kind, "internal-fault");
  assert.equal(receiver.requests.length, 3);
});
