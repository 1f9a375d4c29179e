import { Agent, type IncomingMessage, request } from "node:http";
import { memorySocket, turn } from "./memory-socket.ts";
import type { Reading } from "./reading.ts";

/** Reads an answer as Node's own client does, whose parser is llhttp. */
export async function nodeReading(pieces: readonly Buffer[]): Promise<Reading> {
  const reading: Reading = { status: null, end: null, isReused: false };
  const socket = memorySocket();
  const agent = new Agent({ keepAlive: true });
  agent.createConnection = () => socket;

  let response: IncomingMessage | undefined;
  const sent = request({ method: "POST", agent });
  sent.on("response", (received) => {
    response = received.resume();
    response.on("error", () => undefined); // The status counts.
    reading.status = received.statusCode ?? null;
  });
  sent.on("upgrade", ({ statusCode }) => (reading.status = statusCode ?? null));
  sent.on("error", () => undefined); // There is no status.
  sent.end("a request");
  await turn();

  let arrived = 0;
  for (const piece of pieces) {
    arrived += piece.length;
    socket.push(piece);
    if (socket.readableLength > 0) await turn(); // A large body makes Node pause for a moment.
    if (response?.complete === true) reading.end = arrived;
    if (response?.complete === true || socket.destroyed) break;
  }
  await turn();
  reading.isReused = Object.values(agent.freeSockets).flat().includes(socket);
  socket.destroy();
  agent.destroy();
  return reading;
}
