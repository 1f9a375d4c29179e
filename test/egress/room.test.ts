import assert from "node:assert/strict";
import { once } from "node:events";
import type { Socket } from "node:net";
import { test } from "node:test";
import { parseCidr } from "../../src/lib/ip-address.ts";
import { onConnect } from "../support/network.ts";
import { startReceiver } from "../support/receiver.ts";
import * as scripts from "../support/receiver-scripts.ts";
import { aPost, DELIVERED, names, startPair, startSender } from "../support/sender.ts";

const HOST = "hooks.partner.test";
const LOOPBACK = { allow: [parseCidr("127.0.0.0/8")].filter((block) => block !== null), deny: [] };

test("a failed handshake uses no room", async (t) => {
  const sender = await startSender(t, { maxConnections: 1 });
  const [bad, good] = await Promise.all([
    startReceiver(t, { certifiedHosts: ["other.test"] }),
    startReceiver(t),
  ]);
  for (let i = 0; i < 3; i++) await sender.send(aPost(bad.url()));
  for (const socket of bad.connections) if (!socket.closed) await once(socket, "close");

  for (let i = 0; i < 2; i++) await sender.send(aPost(good.url()));
  assert.equal(good.connections.length, 1);
});

test("an idle connection makes room before the next one is opened", async (t) => {
  const sender = await startSender(t, { maxConnections: 1 });
  const [idle, mute] = await Promise.all([startReceiver(t), startReceiver(t)]);
  await sender.send(aPost(idle.url()));
  const [connection] = idle.connections;
  assert.ok(connection);
  const closed = once(connection, "close").then(() => "the idle one is closed");
  mute.answer(scripts.hang);
  void sender.send(aPost(mute.url()));
  const sent = mute.next().then(() => "the next one is used");
  assert.equal(await Promise.race([closed, sent]), "the idle one is closed");
});

test("connections that become idle together are kept up to the bound", async (t) => {
  const { receiver, send } = await startPair(t, { maxConnections: 2 });
  const answers: (() => void)[] = [];
  receiver.answer(({ response }) => {
    answers.push(() => response.end());
    if (answers.length === 5) for (const answer of answers) answer();
  });
  await Promise.all(Array.from({ length: 5 }, () => send()));
  receiver.answer(scripts.status(200));
  await Promise.all([send(), send()]);
  assert.equal(receiver.connections.length, 5);
});

for (const [room, maxConnections, mostAtOnce] of [
  ["there is room", 3, 3],
  ["there is none", 1, 1],
] as const) {
  test(`with ${room}, ${mostAtOnce} silent addresses of a host are tried at once, and the next one answers`, async (t) => {
    const addresses = ["127.0.0.3", "127.0.0.4", "127.0.0.2"];
    const sender = await startSender(t, {
      lookup: names({ [HOST]: [addresses] }),
      policy: LOOPBACK,
      maxConnections,
    });
    const receiver = await startReceiver(t, { host: HOST });
    const silent = new Set<Socket>();
    let atOnce = 0;
    onConnect(t, (socket, options, connect) => {
      atOnce = Math.max(atOnce, 1 + [...silent].filter(({ destroyed }) => !destroyed).length);
      if (options.host === "127.0.0.2") return connect(options);
      silent.add(socket);
      return socket;
    });
    assert.deepEqual(await sender.send(aPost(receiver.url())), DELIVERED);
    assert.equal(atOnce, mostAtOnce);
  });
}
