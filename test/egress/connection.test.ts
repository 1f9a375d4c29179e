import assert from "node:assert/strict";
import { Duplex, type DuplexOptions } from "node:stream";
import { after, type TestContext, test } from "node:test";
import { createSecureContext, type TLSSocket } from "node:tls";
import { Deadline } from "../../src/egress/post.ts";
import { Connection, type ConnectionKeeper } from "../../src/egress/connection.ts";
import { ConnectionPool } from "../../src/egress/connection-pool.ts";
import { onConnect } from "../support/network.ts";
import { Egress } from "../../src/egress/index.ts";

const deadlines: Deadline[] = [];
after(() => {
  for (const deadline of deadlines) deadline.lift();
});

function aDeadline(): Deadline {
  const deadline = new Deadline(60_000);
  deadlines.push(deadline);
  return deadline;
}

const KEEPER = { draining: () => undefined, idle: () => undefined, closed: () => undefined };

const SILENT: DuplexOptions = {
  read: () => undefined,
  write: (_chunk, _encoding, written) => {
    written();
  },
};

const POST = { url: "", headers: {}, body: Buffer.alloc(0), timeoutMs: 1_200_000 };

const HEAD = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n";
const ANSWER = `${HEAD}ok`;

const nextIteration = () => new Promise(setImmediate);

function aConnection(keeper: ConnectionKeeper = KEEPER, hostHeader = "receiver.example") {
  const socket = Object.assign(new Duplex(SILENT), { setTimeout: () => undefined });
  const raw = { bytesRead: 100_000 };
  const where = { hostHeader, address: "192.88.98.1" };
  const connection = new Connection(
    { ...where, socket: socket as unknown as TLSSocket, raw },
    keeper,
  );
  const post = () => connection.post(Buffer.from("a request"), aDeadline());
  /** Resolves when the connection has read it. */
  const say = async (text: string) => {
    socket.push(text);
    await nextIteration();
  };
  return { connection, socket, raw, post, say };
}

test("a receiver that sends endless session tickets loses its connection", () => {
  const { socket } = aConnection();

  for (let n = 0; n < 16; n++) socket.emit("session", Buffer.alloc(0));
  assert.ok(!socket.destroyed);
  socket.emit("session", Buffer.alloc(0));
  assert.ok(socket.destroyed);
});

test("a receiver that sends too many records without data loses its connection, idle or not", async () => {
  const { connection, socket, raw } = aConnection();
  const deadline = aDeadline();
  const posted = connection.post(Buffer.from("a request"), deadline);
  connection.breakFlood();
  raw.bytesRead += 256 * 1024;
  connection.breakFlood();
  assert.ok(!socket.destroyed);
  raw.bytesRead++;
  connection.breakFlood();
  assert.ok(socket.destroyed);
  const outcome = { kind: "unreachable", reason: "protocol_error", detail: null };
  await assert.rejects(posted, { outcome });
  deadline.lift();
});

test("a connection that was used since the last check is not closed for earlier data", async () => {
  const { connection, socket, raw, post, say } = aConnection();
  connection.breakFlood();
  raw.bytesRead += 256 * 1024 + 1;
  const posted = post();
  await say(ANSWER);
  assert.equal(await posted, 200);
  connection.breakFlood();
  assert.ok(!socket.destroyed, "it may have arrived over many answers");
  raw.bytesRead += 256 * 1024 + 1;
  connection.breakFlood();
  assert.ok(socket.destroyed);
});

test("a silent connection is closed while it is idle, not during a request", async () => {
  const { socket, post, say } = aConnection();
  const posted = post();
  socket.emit("timeout");
  assert.ok(!socket.destroyed, "the deadline applies");
  await say(ANSWER);
  assert.equal(await posted, 200);
  assert.ok(!socket.destroyed);
  socket.emit("timeout");
  assert.ok(socket.destroyed, "it is idle");
});

test("a receiver that sends data without a request loses its connection at once", async () => {
  const { socket, say } = aConnection();
  await say(ANSWER);
  assert.ok(socket.destroyed, "it is still open");
});

function slowConnections(t: TestContext) {
  const connections = new ConnectionPool(createSecureContext(), { max: 1_000 });
  t.after(() => connections.close());
  /** A connection whose answer has begun, and continues when the test calls it. */
  return async () => {
    const connection = aConnection(connections);
    t.after(() => connection.connection.destroy());
    const posted = connection.post();
    await connection.say(HEAD);
    assert.equal(await posted, 200);
    return connection;
  };
}

test("a connection with a complete answer is not closed in favour of incomplete ones", async (t) => {
  const aSlowOne = slowConnections(t);
  const healthy = await aSlowOne();
  await healthy.say("ok");
  for (let n = 0; n < 128; n++) await aSlowOne();
  assert.ok(!healthy.socket.destroyed, "it has been idle since its answer ended");
});

test("each slow answer above the maximum closes the oldest connection", async (t) => {
  const aSlowOne = slowConnections(t);
  const all = [];
  for (let n = 0; n < 131; n++) all.push(await aSlowOne());
  const ended = all.flatMap(({ socket }, n) => (socket.destroyed ? [n] : []));
  assert.deepEqual(ended, [0, 1, 2]);
});

test("a free connection goes to a post to a responsive receiver first", async (t) => {
  const connections = new ConnectionPool(createSecureContext(), { max: 1_000 });
  t.after(() => connections.close());
  onConnect(t, (socket) => socket); // Those that set up the connections, and never end.
  const vetted = await new Egress().check("https://192.88.98.1/");
  assert.ok(vetted.ok);
  const served: string[] = [];
  for (const responsiveness of ["unknown", "responsive"] as const) {
    const post = { ...POST, responsiveness };
    void connections.connect(vetted, post, aDeadline());
    const free = connections.free(vetted, post, aDeadline());
    assert.ok(free instanceof Promise);
    void free.then(() => served.push(responsiveness));
  }
  const { hostHeader } = vetted.destination;
  for (const expected of [["responsive"], ["responsive", "unknown"]]) {
    const { connection, post, say } = aConnection(connections, hostHeader);
    t.after(() => connection.destroy());
    void post();
    await say(ANSWER);
    assert.deepEqual(served, expected);
  }
});
