import { once } from "node:events";
import { connect as connectTcp } from "node:net";
import { Duplex } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { connect as connectTls } from "node:tls";
import { HOST, type Receiver } from "./receivers.ts";

/** How a receiver ends an idle connection. */
export interface IdleEnd {
  status: number;
  /** From the answer until the receiver begins to close. Infinity if it does not in time. */
  seconds: number;
  /** What it announces in `Keep-Alive`. */
  announced: number | null;
  /** Its first signs. A receiver that sends only close_notify waits for ours. */
  signs: string;
}

/** An answer is complete if nothing follows for this time. */
const QUIET_MS = 100;
/** A receiver that does not wait for our close_notify sends its FIN within this time. */
const CLOSING_MS = 500;

/** Sends a request, and waits until the receiver closes the idle connection. */
export async function watchIdle({ port }: Receiver, ca: string, limitMs: number): Promise<IdleEnd> {
  const raw = connectTcp(port, HOST).on("error", () => undefined);
  // Sees what arrives below TLS, and answers no close_notify.
  const below = new Duplex({
    read: () => undefined,
    write: (chunk: Buffer, _, done) => void raw.write(chunk, () => done()),
  });
  raw.on("data", (chunk: Buffer) => below.push(chunk));
  const socket = connectTls({ socket: below, ca, host: HOST });
  await once(socket, "secureConnect");

  let answer = "";
  let answeredAt = Infinity;
  socket.on("data", (chunk: Buffer) => {
    answer += chunk.toString("latin1");
    answeredAt = performance.now();
  });
  const head = `POST / HTTP/1.1\r\nHost: ${HOST}:${port}\r\nConnection: keep-alive\r\nContent-Length: 2`;
  socket.write(`${head}\r\n\r\n{}`);
  while (!(performance.now() - answeredAt > QUIET_MS)) await pause(QUIET_MS / 10);

  const first = await nextSign(limitMs);
  const seconds = first === "nothing" ? Infinity : (performance.now() - answeredAt) / 1000;
  const second = first === "close_notify" ? await nextSign(CLOSING_MS) : "nothing";
  raw.destroy();
  return {
    status: Number(answer.split(" ")[1]),
    seconds,
    announced: Number(/^keep-alive:.*timeout=(\d+)/im.exec(answer)?.[1] ?? NaN) || null,
    signs: second === "nothing" ? first : `${first}, ${second}`,
  };

  function nextSign(withinMs: number): Promise<string> {
    return new Promise((resolve) => {
      setTimeout(resolve, withinMs, "nothing").unref();
      raw.once("data", () => resolve("close_notify"));
      raw.once("end", () => resolve("FIN"));
      raw.once("error", () => resolve("RST"));
    });
  }
}
