import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** The most requests that a connection may send ahead of our answers. Beyond it the connection is closed. */
const AHEAD_MAX = 32;

interface Exchange {
  /** Absent if the input is no request. */
  request?: IncomingMessage;
  response?: ServerResponse;
  begin: () => void;
}

/** The requests of one connection that wait for an answer. The first is being served. */
interface Pipeline {
  exchanges: Exchange[];
  latest?: IncomingMessage;
  /** True once an answer has ended the connection. Later requests would get no answer, so they are not served. */
  isOver: boolean;
}

/**
 * Serves the requests of a connection one at a time, because their answers must leave in that order. A client that sends
 * thousands ahead gains nothing, and no answer overtakes another.
 */
export class Pipelines {
  readonly #pipelines = new WeakMap<Socket, Pipeline>();

  /** Calls `begin` at once, or after the answers to the earlier requests of the connection. */
  take(request: IncomingMessage, response: ServerResponse, begin: () => void): void {
    const { socket } = request;
    const pipeline = this.#pipelineOf(socket);
    if (pipeline.isOver) return;
    pipeline.latest = request;
    if (pipeline.exchanges.length > AHEAD_MAX) {
      socket.destroy();
      return;
    }
    pipeline.exchanges.push({ request, response, begin });
    if (pipeline.exchanges.length === 1) begin();
    else socket.pause(); // Input that was already read still arrives, but no more.
  }

  /** Call it when the request is answered, or never will be. */
  end(request: IncomingMessage): void {
    const { socket } = request;
    const pipeline = this.#pipelineOf(socket);
    const { exchanges } = pipeline;
    const index = exchanges.findIndex((one) => one.request === request);
    if (index === -1) return;
    const [ended] = exchanges.splice(index, 1);
    pipeline.isOver ||= isLast(ended?.response);
    // A reset connection takes no answer. It is not writable before it counts as destroyed.
    if (index > 0 || !socket.writable || pipeline.isOver) return;

    if (exchanges.length === 1) socket.resume();
    const [next] = exchanges;
    if (!next) return;
    // Input of other connections goes first.
    setImmediate(() => {
      if (next === exchanges[0] && socket.writable && !pipeline.isOver) next.begin();
    });
  }

  /** Returns true if no request has arrived behind the current one. */
  isLastOn(socket: Socket): boolean {
    return this.#pipelineOf(socket).exchanges.length <= 1;
  }

  /**
   * Takes input that cannot be a request. `begin` answers it after the earlier requests. It also answers a request whose body
   * broke off, unless an answer has begun. Then the connection is closed without a second answer.
   */
  takeLast(socket: Socket, begin: () => void): void {
    const { exchanges, latest, isOver } = this.#pipelineOf(socket);
    if (isOver) return;
    if (latest && !latest.complete) {
      const index = exchanges.findIndex((one) => one.request === latest);
      const [broken] = index === -1 ? [] : exchanges.splice(index, 1);
      if (!broken || broken.response?.headersSent) {
        socket.destroy();
        return;
      }
    }
    exchanges.push({ begin });
    if (exchanges.length === 1) begin();
  }

  #pipelineOf(socket: Socket): Pipeline {
    let pipeline = this.#pipelines.get(socket);
    if (!pipeline) {
      const { exchanges } = (pipeline = { exchanges: [], isOver: false });
      this.#pipelines.set(socket, pipeline);
      // Node resumes the socket itself when a request ends.
      socket.on("resume", () => exchanges.length > 1 && socket.pause());
    }
    return pipeline;
  }
}

/** Returns true if the connection ends with this answer: by our header, by the client's, or by Node if a body is missing. */
function isLast(response: ServerResponse | undefined): boolean {
  return response?.getHeader("connection") === "close" || response?.shouldKeepAlive === false;
}
