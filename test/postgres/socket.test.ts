import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer, type ServerOpts } from "node:net";
import { type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { createSockets } from "../../src/postgres/socket.ts";
import { freePort } from "../support/free-port.ts";

const NEVER_MS = 60_000;
const POOL = { onbroken: () => undefined, mayDial: () => true };

test("what fails on a socket that the driver has let go of does not end the process", async () => {
  const dial = createSockets(NEVER_MS);
  const socket = dial({ host: ["127.0.0.1"], port: [await freePort()] }, POOL);
  socket.removeAllListeners();
  await new Promise((closed) => socket.on("close", closed));
  assert.ok(socket.errored);
});

test("a socket that is destroyed before it was dialled is not dialled any more", async () => {
  const dial = createSockets(NEVER_MS);
  const socket = dial({ host: ["127.0.0.1"], port: [await freePort()] }, POOL);
  socket.destroy();
  await new Promise(setImmediate);
  await new Promise(setImmediate);
  assert.deepEqual([socket.destroyed, socket.connecting], [true, false]);
});

test("of several hosts one is dialled as long as it is of use, and then the next one", async (t) => {
  const [first, second] = [await aServer(t), await aServer(t)];
  const dial = createSockets(NEVER_MS);
  const where = {
    host: ["127.0.0.1", "127.0.0.1", "127.0.0.1"],
    port: [first.port, await freePort(), second.port],
  };
  const dialled = async () => {
    const socket = dial(where, POOL);
    t.after(() => socket.destroy());
    socket.on("error", () => undefined);
    await new Promise((told) => socket.once("data", told).once("close", told));
    return socket;
  };

  for (let n = 0; n < 3; n++) await dialled();
  assert.deepEqual([first.greeted, second.greeted], [3, 0]);

  first.turnAway();
  const away = await dialled();
  if (!away.closed) await new Promise((closed) => away.once("close", closed));
  const nobody = await dialled();
  assert.ok(nobody.errored);
  for (let n = 0; n < 3; n++) await dialled();
  assert.deepEqual([first.greeted, second.greeted], [3, 3]);
});

test("a host that we hang up on at once has had its turn, however long it takes to let go", async (t) => {
  const [standby, primary] = [await aServer(t, { allowHalfOpen: true }), await aServer(t)];
  const where = { host: ["127.0.0.1", "127.0.0.1"], port: [standby.port, primary.port] };
  const dial = createSockets(NEVER_MS);
  for (let n = 0; n < 2; n++) {
    const socket = dial(where, POOL);
    t.after(() => socket.destroy());
    await once(socket, "data");
    socket.end("X");
  }
  assert.deepEqual([standby.greeted, primary.greeted], [1, 1]);
});

test("a connection breaks where it has been of use and does not rest, and nowhere else", async (t) => {
  const { port } = await aServer(t);
  const where = { host: ["127.0.0.1"], port: [port] };
  const isBroken = async (silenceMs: number, usedMs: number) => {
    let broken = false;
    const pool = { ...POOL, onbroken: () => (broken = true) };
    const socket = createSockets(silenceMs)(where, pool);
    await once(socket, "data");
    await sleep(usedMs);
    socket.destroy();
    return broken;
  };
  assert.deepEqual(
    await Promise.all([isBroken(NEVER_MS, 0), isBroken(NEVER_MS, 1_100), isBroken(2_000, 1_300)]),
    [false, true, false],
    "too young, in mid-work, at rest",
  );
});

test("a connection on which nothing comes any more breaks, however long it has been silent", async (t) => {
  const { port } = await aServer(t);
  let broken = false;
  const pool = { ...POOL, onbroken: () => (broken = true) };
  const socket = createSockets(1_200)({ host: ["127.0.0.1"], port: [port] }, pool).resume();
  await new Promise((closed) => socket.on("close", closed));
  assert.ok(broken);
});

test("a pool that may not dial any more is refused, and takes no host's turn", async (t) => {
  const [first, second] = [await aServer(t), await aServer(t)];
  const where = { host: ["127.0.0.1", "127.0.0.1"], port: [first.port, second.port] };
  const dial = createSockets(NEVER_MS);
  const refused = dial(where, { ...POOL, mayDial: () => false });
  const [error] = (await once(refused, "error")) as [{ code: string }];
  assert.equal(error.code, "ECONNRESET");

  const socket = dial(where, POOL);
  t.after(() => socket.destroy());
  await once(socket, "data");
  assert.deepEqual([first.greeted, second.greeted], [1, 0]);
});

/** Says a word to whoever comes, and hangs up at once where it turns them away. */
async function aServer(t: TestContext, options: ServerOpts = {}) {
  let isAway = false;
  const told = {
    port: 0,
    greeted: 0,
    turnAway: () => (isAway = true),
  };
  const server = createServer(options, (socket) => {
    t.after(() => socket.destroy());
    socket.on("error", () => undefined);
    if (isAway) socket.end("E");
    else socket.write("R", () => told.greeted++);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  told.port = (server.address() as AddressInfo).port;
  t.after(() => server.close());
  return told;
}
