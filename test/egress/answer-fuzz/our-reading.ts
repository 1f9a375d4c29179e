import { Answer } from "../../../src/egress/answer.ts";
import { Connection } from "../../../src/egress/connection.ts";
import { Deadline } from "../../../src/egress/post.ts";
import { memorySocket, turn } from "./memory-socket.ts";
import type { Reading } from "./reading.ts";

/** Reads an answer as the sender does. */
export async function ourReading(pieces: readonly Buffer[]): Promise<Reading> {
  const reading: Reading = { status: null, end: null, isReused: false };
  const socket = memorySocket();
  const connection = new Connection(
    { hostHeader: "receiver.example", address: "192.0.2.1", socket, raw: { bytesRead: 0 } },
    {
      draining: () => undefined,
      idle: () => (reading.isReused = true),
      closed: () => undefined,
    },
  );
  const deadline = new Deadline(60_000);
  connection.post(Buffer.from("a request"), deadline).then(
    (status) => (reading.status = status),
    () => undefined, // There is no status.
  );
  await turn();

  const answer = new Answer(); // The connection's own reader does not show where the answer ended.
  let arrived = 0;
  for (const piece of pieces) {
    arrived += piece.length;
    socket.push(piece);
    const progress = answer.take(piece);
    if (progress === "complete") reading.end = arrived;
    if (progress !== "incomplete") break;
  }
  await turn();
  reading.isReused &&= connection.isOpen;
  deadline.lift();
  socket.destroy();
  return reading;
}
