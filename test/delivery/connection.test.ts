import assert from "node:assert/strict";
import { Duplex, type DuplexOptions } from "node:stream";
import { test } from "node:test";
import type { TLSSocket } from "node:tls";
import { Deadline } from "../../src/delivery/deadline.ts";
import { Connection } from "../../src/delivery/connection.ts";

const KEEPER = { draining: () => undefined, idle: () => undefined, closed: () => undefined };

const SILENT: DuplexOptions = {
  read: () => undefined,
  write: (_chunk, _encoding, written) => {
    written();
  },
};

function aConnection() {
  const socket = Object.assign(new Duplex(SILENT), { setTimeout: () => undefined });
  const raw = { bytesRead: 100_000 };
  const where = { hostHeader: "receiver.example", address: "192.0.2.1" };
  const connection = new Connection(
    { ...where, socket: socket as unknown as TLSSocket, raw },
    KEEPER,
  );
  return { connection, socket, raw };
}

test("a receiver that sends tickets without end loses its connection", () => {
  const { socket } = aConnection();

  for (let n = 0; n < 16; n++) socket.emit("session", Buffer.alloc(0));
  assert.ok(!socket.destroyed);
  socket.emit("session", Buffer.alloc(0));
  assert.ok(socket.destroyed);
});

test("so does one that sends records without data, more than any answer has, be it asked or not", async () => {
  const { connection, socket, raw } = aConnection();
  const deadline = new Deadline(60_000);
  const posted = connection.post(Buffer.from("a request"), deadline);
  connection.breakFlood();
  raw.bytesRead += 256 * 1024;
  connection.breakFlood();
  assert.ok(!socket.destroyed);
  raw.bytesRead++;
  connection.breakFlood();
  assert.ok(socket.destroyed);
  const outcome = { kind: "unreachable", reason: "protocol_error" };
  await assert.rejects(posted, { outcome });
  deadline.lift();
});
