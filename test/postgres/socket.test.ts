import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { test } from "node:test";
import { createSockets } from "../../src/postgres/socket.ts";

const NEVER_MS = 60_000;

async function nobodysPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

test("what fails on a socket that the driver has let go of does not end the process", async () => {
  const dial = createSockets(NEVER_MS);
  const socket = dial({ host: ["127.0.0.1"], port: [await nobodysPort()] });
  socket.removeAllListeners();
  await new Promise((closed) => socket.on("close", closed));
  assert.ok(socket.errored);
});

test("a socket that is destroyed before it was dialled is not dialled any more", async () => {
  const dial = createSockets(NEVER_MS);
  const socket = dial({ host: ["127.0.0.1"], port: [await nobodysPort()] });
  socket.destroy();
  await new Promise(setImmediate);
  await new Promise(setImmediate);
  assert.deepEqual([socket.destroyed, socket.connecting], [true, false]);
});
