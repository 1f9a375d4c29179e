import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** How many requests a connection may be ahead of our answers. Whoever sends more does not mean to read them. */
const AHEAD_MAX = 32;

interface Turn {
  /** Absent where what arrived is no request. */
  request?: IncomingMessage;
  response?: ServerResponse;
  begin: () => void;
}

/**
 * Serves the requests of a connection one after the other, as their answers have to leave anyway. So a client that
 * sends thousands ahead has one of them served at a time, like everybody, and no answer overtakes another.
 */
export class Turns {
  readonly #lines = new WeakMap<Socket, Turn[]>();
  readonly #latest = new WeakMap<Socket, IncomingMessage>();

  /** Begins at once, or when the requests before it on the same connection are answered. */
  take(request: IncomingMessage, response: ServerResponse, begin: () => void): void {
    const { socket } = request;
    const line = this.#lineOf(socket);
    this.#latest.set(socket, request);
    if (line.length > AHEAD_MAX) {
      socket.destroy();
      return;
    }
    line.push({ request, response, begin });
    if (line.length === 1) begin();
    else socket.pause(); // What is read already keeps arriving, but nothing after it.
  }

  /** The request is answered, or never will be. */
  end(request: IncomingMessage): void {
    const { socket } = request;
    const line = this.#lineOf(socket);
    const place = line.findIndex((turn) => turn.request === request);
    if (place === -1) return;
    line.splice(place, 1);
    if (place > 0 || socket.destroyed) return;

    const next = line[0];
    if (next) next.begin();
    else if (socket.isPaused()) socket.resume();
  }

  /**
   * For what arrived and can be no request: `begin` answers it in its turn. A request that broke off in its body is
   * answered that way, too, unless its own answer is out already: then the connection ends without a second one.
   */
  takeLast(socket: Socket, begin: () => void): void {
    const line = this.#lineOf(socket);
    const latest = this.#latest.get(socket);
    if (latest && !latest.complete) {
      const place = line.findIndex((turn) => turn.request === latest);
      const [broken] = place === -1 ? [] : line.splice(place, 1);
      if (!broken || broken.response?.headersSent) {
        socket.destroy();
        return;
      }
    }
    line.push({ begin });
    if (line.length === 1) begin();
  }

  #lineOf(socket: Socket): Turn[] {
    let line = this.#lines.get(socket);
    if (!line) this.#lines.set(socket, (line = []));
    return line;
  }
}
