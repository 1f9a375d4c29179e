import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import type { TLSSocket } from "node:tls";
import { Connection } from "../../src/delivery/connection.ts";

const KEEPER = { draining: () => undefined, idle: () => undefined, closed: () => undefined };

test("a receiver that sends tickets without end loses its connection", () => {
  const socket = Object.assign(new PassThrough(), { setTimeout: () => undefined });
  const where = { hostHeader: "receiver.example", address: "192.0.2.1" };
  new Connection({ ...where, socket: socket as unknown as TLSSocket }, KEEPER);

  for (let n = 0; n < 16; n++) socket.emit("session", Buffer.alloc(0));
  assert.ok(!socket.destroyed);
  socket.emit("session", Buffer.alloc(0));
  assert.ok(socket.destroyed);
});
