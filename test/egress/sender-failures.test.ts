import assert from "node:assert/strict";
import { once } from "node:events";
import { test, type TestContext } from "node:test";
import { Deadline } from "../../src/egress/post.ts";
import { dial } from "../../src/egress/dial.ts";
import { onConnect } from "../support/network.ts";
import { startReceiver } from "../support/receiver.ts";
import * as scripts from "../support/receiver-scripts.ts";
import { aPost, DELIVERED, names, startPair, startSender, unreachable } from "../support/sender.ts";

const timedOut = (phase: string) => unreachable("timeout", phase);
const HOST = "hooks.partner.test";

for (const certifiedHosts of [["other.test"], ["127.0.0.2"]]) {
  test(`nothing is sent to a receiver certified as ${certifiedHosts.join()} instead of its name`, async (t) => {
    const { receiver, send } = await startPair(t, {
      host: HOST,
      certifiedHosts,
      lookup: names({ [HOST]: [["127.0.0.2"]] }),
    });
    assert.deepEqual(await send(), unreachable("tls_error", "name_mismatch"));
    assert.equal(receiver.requests.length, 0);
  });
}

test("nothing is sent to an address that its certificate does not name", async (t) => {
  const { receiver, send } = await startPair(t, {
    certifiedHosts: ["127.0.0.3", "hooks.partner.test"],
  });
  assert.deepEqual(await send(), unreachable("tls_error", "name_mismatch"));
  assert.equal(receiver.requests.length, 0);
});

test("an absent receiver is a refused connection", async (t) => {
  const { receiver, send } = await startPair(t);
  await receiver.close();
  assert.deepEqual(await send(), unreachable("connection_refused"));
});

test("a name without an address is a DNS error", async (t) => {
  const sender = await startSender(t);
  const outcome = await sender.send(aPost("https://gone.partner.test/"));
  assert.deepEqual(outcome, unreachable("dns_error"));
});

test("a look-up that no resolver answers is an internal fault", async (t) => {
  const sender = await startSender(t, { lookup: () => Promise.resolve({ kind: "no-resolver" }) });
  const outcome = await sender.send(aPost("https://hooks.partner.test/"));
  assert.deepEqual(outcome, { kind: "internal-fault", fault: "no_resolver" });
});

test("an attempt without room for its look-up is deferred, and is neither a failure nor a fault", async (t) => {
  const sender = await startSender(t, { lookup: () => Promise.resolve({ kind: "too-many" }) });
  assert.deepEqual(await sender.send(aPost("https://hooks.partner.test/")), { kind: "deferred" });
});

test("an unexpected exception is an internal fault of its own kind", async (t) => {
  const error = new Error("broken");
  const sender = await startSender(t, { lookup: () => Promise.reject(error) });
  const outcome = await sender.send(aPost("https://hooks.partner.test/"));
  assert.deepEqual(outcome, { kind: "internal-fault", fault: "unexpected", error });
});

test("a URL that a changed policy refuses is not contacted", async (t) => {
  const sender = await startSender(t);
  const canary = await startReceiver(t, { address: "127.0.0.1" });
  assert.deepEqual(await sender.send(aPost(canary.url())), unreachable("address_not_public"));
  assert.equal(canary.connections.length, 0);
});

test("an IPv4 address without a route, on a machine with other routes, is the receiver's failure", async (t) => {
  // The system refuses TCP to the broadcast address as it does without a route.
  const sender = await startSender(t, {
    lookup: names({ [HOST]: [["255.255.255.255"]] }),
    policy: { allow: [{ family: 4, network: [0, 0, 0, 0], mask: [0, 0, 0, 0] }], deny: [] },
  });
  assert.deepEqual(await sender.send(aPost(`https://${HOST}/`)), unreachable("network_error"));
});

/** Refuses every connection with this code before anything is sent, as the system does. */
function refuseLocally(t: TestContext, code: string): void {
  onConnect(t, (socket) => socket.destroy(Object.assign(new Error(code), { code })));
}

const SOUND = {
  hasLostIpv4: () => Promise.resolve(false),
  hasPorts: () => Promise.resolve(true),
  hasLostIpv6Source: () => Promise.resolve(false),
};

test("without any IPv4 route no attempt is made", async (t) => {
  refuseLocally(t, "ENETUNREACH");
  const lost = { ...SOUND, hasLostIpv4: () => Promise.resolve(true) };
  const deadline = new Deadline(30_000);
  t.after(() => {
    deadline.lift();
  });
  const dialling = dial(["127.0.0.2"], 443, deadline, { localChecks: lost });
  await assert.rejects(dialling, { outcome: { kind: "internal-fault", fault: "no_route" } });
});

test("a receiver with only an IPv6 address, on a machine without one, is a network error", async (t) => {
  refuseLocally(t, "EADDRNOTAVAIL");
  const sender = await startSender(t);
  assert.deepEqual(await sender.send(aPost("https://[::1]/")), unreachable("network_error"));
});

test("an attempt without a free port to its address is deferred, and is neither a failure nor a fault", async (t) => {
  onConnect(t, (socket, options, connect) => {
    if (options.host !== "127.0.0.2") return connect(options);
    return socket.destroy(Object.assign(new Error("no port"), { code: "EADDRNOTAVAIL" }));
  });
  const sender = await startSender(t);
  assert.deepEqual(await sender.send(aPost("https://127.0.0.2/")), { kind: "deferred" });
});

test("without a free port for any address no attempt is made", async (t) => {
  refuseLocally(t, "EADDRNOTAVAIL");
  const sender = await startSender(t);
  const outcome = await sender.send(aPost("https://127.0.0.2/"));
  assert.deepEqual(outcome, { kind: "internal-fault", fault: "no_ports" });
});

test("a look-up that takes too long is a timeout", async (t) => {
  const sender = await startSender(t, {
    timeoutMs: 50,
    lookup: () => new Promise(() => undefined),
  });
  assert.deepEqual(await sender.send(aPost(`https://${HOST}/`)), timedOut("look_up"));
});

test("look-up, connection and answer share one limit", async (t) => {
  let slept = 0;
  const sender = await startSender(t, {
    timeoutMs: 400,
    lookup: async () => {
      await new Promise((resolve) => setTimeout(resolve, (slept = 250)));
      return { kind: "addresses", addresses: ["127.0.0.2"] };
    },
  });
  const receiver = await startReceiver(t, {
    host: HOST,
    accept: (_socket, secure) => setTimeout(secure, 250),
  });
  assert.deepEqual(await sender.send(aPost(receiver.url())), timedOut("handshake"));
  assert.equal(slept, 250);
  assert.equal(receiver.requests.length, 0);
});

test("bodies that never arrive are bounded: the oldest connection is closed early", async (t) => {
  const { receiver, send } = await startPair(t, { timeoutMs: 60_000 });
  receiver.answer(scripts.raw("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n"));
  for (let i = 0; i < 129; i++) await send();
  const [oldest, ...others] = receiver.connections;
  assert.ok(oldest);
  if (!oldest.closed) await once(oldest, "close");
  assert.ok(others.every((socket) => !socket.closed));
});

test("nothing is sent to a peer whose address is not the requested one", async (t) => {
  const { receiver, send } = await startPair(t);
  const other = await startReceiver(t, { address: "127.0.0.3", port: receiver.port });
  onConnect(t, (_socket, options, connect) => connect({ ...options, host: "127.0.0.3" }));

  assert.deepEqual(await send(), unreachable("address_not_public"));
  const [connection] = other.connections;
  assert.ok(connection);
  if (!connection.closed) await once(connection, "close");
  assert.equal(connection.bytesRead, 0);
});

test("a peer that disconnects before the check is a reset", async (t) => {
  const { receiver, send } = await startPair(t);
  onConnect(t, (socket, options, connect) => {
    Object.defineProperty(socket, "remoteAddress", { value: undefined });
    return connect(options);
  });
  assert.deepEqual(await send(), unreachable("connection_reset", "before_request"));
  assert.equal(receiver.requests.length, 0);
});

test("a socket that fails before TLS starts ends only its own attempt", async (t) => {
  const receiver = await startReceiver(t);
  const deadline = new Deadline(30_000);
  const { socket } = await dial(["127.0.0.2"], receiver.port, deadline);
  deadline.lift();
  socket.destroy(new Error("broken"));
  await new Promise((resolve) => socket.once("close", resolve));
});

test("a host with only silent addresses is a timeout", async (t) => {
  const sender = await startSender(t, { timeoutMs: 300 });
  onConnect(t, (socket) => socket);
  assert.deepEqual(await sender.send(aPost("https://127.0.0.2/")), timedOut("connect"));
});

test("a network that a router cannot reach is the receiver's failure", async (t) => {
  const sender = await startSender(t);
  onConnect(t, (socket) => {
    const error = Object.assign(new Error("unreachable"), { code: "ENETUNREACH" });
    setTimeout(() => socket.destroy(error), 20);
    return socket;
  });
  assert.deepEqual(await sender.send(aPost("https://127.0.0.2/")), unreachable("network_error"));
});

test("a silent address does not prevent the next from being tried", async (t) => {
  const lookup = names({ [HOST]: [["127.0.0.3", "127.0.0.2"]] });
  const { send } = await startPair(t, { host: HOST, lookup });
  onConnect(t, (socket, options, connect) =>
    options.host === "127.0.0.3" ? socket : connect(options),
  );
  assert.deepEqual(await send(), DELIVERED);
});

for (const headers of [{ "x-a": "b\r\nx-c: d" }, { "x-a\r\nx-c": "d" }, { "x-a": "\u010a" }])
  test(`a header that would be several is refused: ${JSON.stringify(headers)}`, async (t) => {
    const { receiver, sender } = await startPair(t);
    const post = { url: receiver.url(), headers, body: Buffer.from("{}"), timeoutMs: 5_000 };
    const outcome = await sender.egress.post(post);
    assert.equal("fault" in outcome && outcome.fault, "unexpected");
    assert.equal(receiver.requests.length, 0);
  });

test("a post ends when its signal does, or has", async (t) => {
  const { receiver, sender } = await startPair(t);
  receiver.answer(scripts.hang);
  const ending = new AbortController();
  const post = { url: receiver.url(), headers: {}, body: Buffer.from("{}"), timeoutMs: 600_000 };
  const posted = sender.egress.post({ ...post, signal: ending.signal });
  await receiver.next();
  ending.abort();
  const stopped = { kind: "internal-fault", fault: "stopping" };
  assert.deepEqual(await posted, stopped);
  assert.deepEqual(await sender.egress.post({ ...post, signal: ending.signal }), stopped);
});
