import { once } from "node:events";
import { connect, type Socket } from "node:net";

const END_OF_HEAD = "\r\n\r\n";

/**
 * A plain HTTP connection for one request at a time, with little overhead, so that the service
 * dominates the measurement.
 */
export class Wire {
  onAnswer: ((status: string, text: string) => void) | undefined;
  onFailure: ((error: Error) => void) | undefined;
  readonly #socket: Socket;
  #text = "";

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("data", (chunk) => {
      this.#take((chunk as Buffer).toString("latin1"));
    });
    socket.on("error", (error) => this.onFailure?.(error));
    socket.on("close", () => this.onFailure?.(new Error("the service closed a connection")));
  }

  send(request: Buffer): void {
    this.#socket.write(request);
  }

  close(): void {
    this.onFailure = undefined;
    this.#socket.destroy();
  }

  #take(more: string): void {
    this.#text += more;
    const head = this.#text.indexOf(END_OF_HEAD);
    if (head === -1) return;
    const length = /\r\ncontent-length: *(\d+)/i.exec(this.#text)?.[1] ?? "0";
    if (this.#text.length < head + END_OF_HEAD.length + Number(length)) return;

    const whole = this.#text;
    this.#text = "";
    this.onAnswer?.(whole.slice("HTTP/1.1 ".length, "HTTP/1.1 200".length), whole);
  }
}

export async function openWires(url: string, count: number): Promise<Wire[]> {
  const { hostname, port } = new URL(url);
  const sockets = Array.from({ length: count }, () =>
    connect({ host: hostname, port: Number(port), noDelay: true }),
  );
  await Promise.all(sockets.map((socket) => once(socket, "connect")));
  return sockets.map((socket) => new Wire(socket));
}

/** Sends one request and returns the status and the body. */
export async function exchange(
  wire: Wire,
  request: string,
): Promise<{ status: string; body: string }> {
  return new Promise((resolve, reject) => {
    wire.onFailure = reject;
    wire.onAnswer = (status, text) => {
      resolve({ status, body: text.slice(text.indexOf(END_OF_HEAD) + END_OF_HEAD.length) });
    };
    wire.send(Buffer.from(request));
  });
}
