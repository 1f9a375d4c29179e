import { once } from "node:events";
import { openSync, writeSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import https from "node:https";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { certificate, testAuthority } from "../../support/certificates.ts";
import { startDnsServer } from "../../support/dns-server.ts";
import type { Answer, Arrival, Slot } from "../journal.ts";
import { HUNG, REFUSED, RESET, THOUGHT_MS } from "../plan.ts";
import { between, randomFrom } from "../random.ts";
import { ADDRESSES, DOOMED_PATH, HOST, type Opened, type Options } from "../receivers.ts";

/**
 * The receivers, in a process that is never killed. It writes down every request before it responds. It ends
 * with its parent.
 */
process.on("disconnect", () => process.exit());
process.on("SIGINT", () => undefined); // Ctrl-C reaches this process too, but only the parent ends it.

const { journalFile, seed } = JSON.parse(process.argv[2] ?? "") as Options;
const journal = openSync(journalFile, "a");
const random = randomFrom(seed);
const connections = new Map<string, Socket>();

const { key, cert } = await certificate({ hosts: [HOST], addresses: [], kind: "good" });
const { cert: ca } = await testAuthority();
const port = await open("a", 0);
await open("b", port);
const nameServers = { a: await nameServer("a"), b: await nameServer("b") };
process.send?.({ port, ca, nameServers } satisfies Opened);

async function open(slot: Slot, at: number): Promise<number> {
  const web = https.createServer(
    { key, cert, keepAliveTimeout: 60_000 },
    (request, response) => void serve(slot, request, response),
  );
  const door = createServer((socket) => {
    const name = nameOf(slot, socket);
    connections.set(name, socket);
    socket.on("error", ignore).once("close", () => connections.delete(name));
    web.emit("connection", socket);
  });
  web.on("secureConnection", (socket) => socket.on("error", ignore));
  web.on("tlsClientError", ignore); // A killed service aborts handshakes.
  door.listen(at, ADDRESSES[slot]);
  await once(door, "listening");
  return (door.address() as AddressInfo).port;
}

async function nameServer(slot: Slot): Promise<string> {
  const server = await startDnsServer(undefined);
  server.set(HOST, { A: [ADDRESSES[slot]] });
  return server.address;
}

async function serve(slot: Slot, request: IncomingMessage, response: ServerResponse) {
  const connection = connections.get(nameOf(slot, request.socket));
  const body = await text(request).catch(() => null);
  if (body === null) return; // An aborted request did not arrive.

  const { id, subscription_id } = JSON.parse(body) as { id: string; subscription_id: string };
  const answer = request.url === DOOMED_PATH ? "refuse" : draw();
  const arrival: Arrival = {
    event: id,
    subscription: subscription_id,
    slot,
    sentAt: Number(request.headers["x-vc-timestamp"]),
    at: Date.now(),
    answer,
  };
  writeSync(journal, `${JSON.stringify(arrival)}\n`);

  setTimeout(
    () => {
      if (answer === "accept") response.writeHead(200).end();
      else if (answer === "refuse") response.writeHead(503).end();
      else if (answer === "reset") connection?.resetAndDestroy();
    },
    between(random, THOUGHT_MS.least, THOUGHT_MS.most),
  );
}

function draw(): Answer {
  const drawn = random();
  if (drawn < REFUSED) return "refuse";
  if (drawn < REFUSED + HUNG) return "hang";
  return drawn < REFUSED + HUNG + RESET ? "reset" : "accept";
}

function nameOf(slot: Slot, { remotePort }: Socket): string {
  return `${slot} ${String(remotePort)}`;
}

function ignore(): void {
  // The sender handles errors of connections.
}
