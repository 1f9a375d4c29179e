import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** The most requests that a connection may send ahead of our answers. Beyond it the connection is closed. */
const AHEAD_MAX = 32;

interface Turn {
  /** Absent if the input is no request. */
  request?: IncomingMessage;
  response?: ServerResponse;
  begin: () => void;
}

/** The requests of one connection that wait for an answer. The first is being served. */
interface Line {
  turns: Turn[];
  latest?: IncomingMessage;
  /** True once an answer has ended the connection. Later requests would get no answer, so they are not served. */
  isOver: boolean;
}

/**
 * Serves the requests of a connection one at a time, because their answers must leave in that order. A client that sends
 * thousands ahead gains nothing, and no answer overtakes another.
 */
export class Turns {
  readonly #lines = new WeakMap<Socket, Line>();

  /** Calls `begin` at once, or after the answers to the earlier requests of the connection. */
  take(request: IncomingMessage, response: ServerResponse, begin: () => void): void {
    const { socket } = request;
    const line = this.#lineOf(socket);
    if (line.isOver) return;
    line.latest = request;
    if (line.turns.length > AHEAD_MAX) {
      socket.destroy();
      return;
    }
    line.turns.push({ request, response, begin });
    if (line.turns.length === 1) begin();
    else socket.pause(); // Input that was already read still arrives, but no more.
  }

  /** Call it when the request is answered, or never will be. */
  end(request: IncomingMessage): void {
    const { socket } = request;
    const line = this.#lineOf(socket);
    const { turns } = line;
    const place = turns.findIndex((turn) => turn.request === request);
    if (place === -1) return;
    const [ended] = turns.splice(place, 1);
    line.isOver ||= isLast(ended?.response);
    // A reset connection takes no answer. It is not writable before it counts as destroyed.
    if (place > 0 || !socket.writable || line.isOver) return;

    if (turns.length === 1) socket.resume();
    const [next] = turns;
    if (!next) return;
    // Input of other connections goes first.
    setImmediate(() => {
      if (next === turns[0] && socket.writable && !line.isOver) next.begin();
    });
  }

  /** Returns true if no request has arrived behind the current one. */
  isLastOn(socket: Socket): boolean {
    return this.#lineOf(socket).turns.length <= 1;
  }

  /**
   * Takes input that cannot be a request. `begin` answers it in its turn. It also answers a request whose body broke off,
   * unless an answer has begun. Then the connection is closed without a second answer.
   */
  takeLast(socket: Socket, begin: () => void): void {
    const { turns, latest, isOver } = this.#lineOf(socket);
    if (isOver) return;
    if (latest && !latest.complete) {
      const place = turns.findIndex((turn) => turn.request === latest);
      const [broken] = place === -1 ? [] : turns.splice(place, 1);
      if (!broken || broken.response?.headersSent) {
        socket.destroy();
        return;
      }
    }
    turns.push({ begin });
    if (turns.length === 1) begin();
  }

  #lineOf(socket: Socket): Line {
    let line = this.#lines.get(socket);
    if (!line) {
      const { turns } = (line = { turns: [], isOver: false });
      this.#lines.set(socket, line);
      // Node resumes the socket itself when a request ends.
      socket.on("resume", () => turns.length > 1 && socket.pause());
    }
    return line;
  }
}

/** Returns true if the connection ends with this answer: by our header, by the client's, or by Node if a body is missing. */
function isLast(response: ServerResponse | undefined): boolean {
  return response?.getHeader("connection") === "close" || response?.shouldKeepAlive === false;
}
