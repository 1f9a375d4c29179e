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

/** What waits for an answer on one connection: the first is under way. */
interface Line {
  turns: Turn[];
  latest?: IncomingMessage;
  /** The connection ends with an answer that is out: nothing behind it would be answered, so nothing is served. */
  isOver: boolean;
}

/**
 * Serves the requests of a connection one after the other, as their answers have to leave anyway. So a client that
 * sends thousands ahead has one of them served at a time, like everybody, and no answer overtakes another.
 */
export class Turns {
  readonly #lines = new WeakMap<Socket, Line>();

  /** Begins at once, or when the requests before it on the same connection are answered. */
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
    else socket.pause(); // What is read already keeps arriving, but nothing after it.
  }

  /** The request is answered, or never will be. */
  end(request: IncomingMessage): void {
    const { socket } = request;
    const line = this.#lineOf(socket);
    const { turns } = line;
    const place = turns.findIndex((turn) => turn.request === request);
    if (place === -1) return;
    const [ended] = turns.splice(place, 1);
    line.isOver ||= isLast(ended?.response);
    // A connection that was reset can take no answer, and says so before it counts as destroyed.
    if (place > 0 || !socket.writable || line.isOver) return;

    if (turns.length === 1) socket.resume();
    const [next] = turns;
    if (!next) return;
    // What other connections have sent meanwhile is served first.
    setImmediate(() => {
      if (next === turns[0] && socket.writable && !line.isOver) next.begin();
    });
  }

  /** Whether nothing has arrived behind the request that is being answered. */
  isLastOn(socket: Socket): boolean {
    return this.#lineOf(socket).turns.length <= 1;
  }

  /**
   * For what arrived and can be no request: `begin` answers it in its turn. A request that broke off in its body is
   * answered that way, too, unless its own answer is out already: then the connection ends without a second one.
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
      // Node itself goes on reading when a request is over.
      socket.on("resume", () => turns.length > 1 && socket.pause());
    }
    return line;
  }
}

/** Whether the connection ends with this answer: we have said so, the client has, or Node does where a body is missing. */
function isLast(response: ServerResponse | undefined): boolean {
  return response?.getHeader("connection") === "close" || response?.shouldKeepAlive === false;
}
