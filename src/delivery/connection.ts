import type { TLSSocket } from "node:tls";
import { Client } from "undici";
import { AttemptFailed, unreachable } from "./attempt-failed.ts";
import type { Deadline } from "./deadline.ts";
import { InterimResponses } from "./interim-responses.ts";
import { outcomeOfExchange } from "./outcome-of-error.ts";
import { ReadLimit } from "./read-limit.ts";

const HEADER_BYTES_MAX = 16 * 1024;
const BODY_BYTES_MAX = 64 * 1024;
/** Heads and body, with ample room for what lies around them. */
const ANSWER_BYTES_MAX = 2 * BODY_BYTES_MAX;
/** A receiver that says how long it keeps an idle connection is believed; this is for the others. */
const IDLE_MS = 10_000;
const IDLE_MS_MAX = 60_000;

/** What goes out. undici adds `Host` and `Content-Length`. */
export interface PostRequest {
  method: "POST";
  path: string;
  headers: Record<string, string>;
  body: Uint8Array;
}

/** Whoever keeps connections hears what becomes of them. */
export interface ConnectionKeeper {
  /** The status is known; the rest of the answer is still to come. */
  draining: (connection: Connection) => void;
  /** It can take the next request. It may close at any time. */
  idle: (connection: Connection) => void;
  closed: (connection: Connection) => void;
}

/** One TLS connection to one vetted address, for one request at a time. */
export class Connection {
  readonly hostHeader: string;
  readonly address: string;
  readonly #socket: TLSSocket;
  readonly #client: Client;
  readonly #limit: ReadLimit;
  readonly #interim: InterimResponses;
  readonly #keeper: ConnectionKeeper;

  constructor(
    { hostHeader, address, socket }: { hostHeader: string; address: string; socket: TLSSocket },
    keeper: ConnectionKeeper,
  ) {
    this.hostHeader = hostHeader;
    this.address = address;
    this.#socket = socket;
    this.#keeper = keeper;
    this.#limit = new ReadLimit(socket, ANSWER_BYTES_MAX);
    this.#interim = new InterimResponses(socket);
    this.#client = new Client(`https://${hostHeader}`, {
      // Called once: the client goes with its socket. Later, since undici ignores a call back at once.
      connect: (_options, callback) => {
        queueMicrotask(() => {
          callback(null, socket);
        });
      },
      headersTimeout: 0, // The deadline rules.
      bodyTimeout: 0,
      maxHeaderSize: HEADER_BYTES_MAX,
      keepAliveTimeout: IDLE_MS,
      keepAliveMaxTimeout: IDLE_MS_MAX,
    });
    socket.once("close", () => {
      this.destroy();
      keeper.closed(this);
    });
  }

  get isOpen(): boolean {
    return !this.#socket.destroyed;
  }

  /** Whether the receiver has sent anything since the last request went out. */
  get hasAnswered(): boolean {
    return this.#interim.hasAnswered;
  }

  /**
   * Resolves to the final status as soon as the head of the answer is complete. What follows is read and
   * thrown away, up to a limit, so that the connection can be used again; it changes nothing.
   */
  async post(request: PostRequest, deadline: Deadline): Promise<number> {
    return new Promise((resolve, reject) => {
      let isAnswered = false;
      let bodyBytes = 0;

      deadline.guard((why) => {
        reject(why);
        this.destroy();
      });
      this.#limit.restart();
      this.#interim.expectHead();
      this.#client.dispatch(request, {
        onRequestStart: () => undefined, // undici tells the kinds of handler apart by it.
        onResponseStart: (_controller, status) => {
          isAnswered = true;
          if (status >= 200) {
            resolve(status);
            this.#keeper.draining(this);
          } else {
            reject(new AttemptFailed(unreachable("protocol_error"))); // "HTTP/1.1 099"
            this.destroy();
          }
        },
        onResponseData: (_controller, chunk) => {
          bodyBytes += chunk.length;
          if (bodyBytes > BODY_BYTES_MAX) this.destroy();
        },
        onResponseEnd: () => {
          deadline.lift();
          if (this.isOpen) this.#keeper.idle(this);
        },
        onResponseError: (_controller, error) => {
          if (isAnswered) deadline.lift();
          reject(new AttemptFailed(outcomeOfExchange(error), error));
        },
      });
    });
  }

  destroy(): void {
    this.#socket.destroy();
    void this.#client.destroy();
  }
}
