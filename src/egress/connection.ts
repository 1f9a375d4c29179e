import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { Answer, type AnswerHead } from "./answer.ts";
import { outcomeOfError, type Phase, PostFailed, resetIn, unreachable } from "./outcome.ts";
import type { Deadline } from "./post.ts";

/** The idle time if the receiver does not announce one. */
const IDLE_MS = 30_000;
/** The longest idle time that a receiver can announce. */
const ANNOUNCED_IDLE_MS_MAX = 60_000;
/** We close this much earlier than the receiver, so that no request crosses with its close. */
const IDLE_MARGIN_MS = 2_000;

/** Receivers send one or two tickets for later handshakes. Each ticket costs time, so thousands would be an attack. */
const TICKETS_MAX = 16;

/** More than an answer can have, with the overhead of TLS records. */
const RAW_BYTES_MAX = 256 * 1024;

/** Hears of each change of a connection. */
export interface ConnectionKeeper {
  /** The status is known. The rest of the answer is still to come. */
  draining: (connection: Connection) => void;
  /** The connection can take the next request. It may close at any time. */
  idle: (connection: Connection) => void;
  closed: (connection: Connection) => void;
}

/** What a connection leads to. `raw` is the socket below TLS. */
interface Way {
  hostHeader: string;
  address: string;
  socket: TLSSocket;
  raw: Pick<Socket, "bytesRead">;
}

/** A request that was sent, and the answer so far. */
interface Exchange {
  answer: Answer;
  deadline: Deadline;
  resolve: (httpStatus: number) => void;
  reject: (why: PostFailed) => void;
  onFirstByte: (() => void) | undefined;
}

/** One TLS connection to one vetted address, for one request at a time. */
export class Connection {
  readonly #way: Way;
  readonly #keeper: ConnectionKeeper;
  #exchange: Exchange | null = null;
  #tickets = 0;
  #rawBytesBefore = 0;
  #isUsedSince = true;
  /** True if the receiver has sent data since the last request. */
  hasAnswered = false;

  constructor(way: Way, keeper: ConnectionKeeper) {
    this.#way = way;
    this.#keeper = keeper;
    const { socket } = way;
    socket.setTimeout(IDLE_MS);
    socket.on("data", (chunk: Buffer) => this.#take(chunk));
    socket.on("session", () => {
      if (++this.#tickets > TICKETS_MAX) this.destroy();
    });
    socket.on("timeout", () => {
      if (this.#exchange === null) this.destroy(); // During a request, its deadline applies.
    });
    socket.on("error", (error) => {
      this.#break(new PostFailed(outcomeOfError(error, this.#phase), error));
    });
    socket.once("close", () => {
      this.#break(new PostFailed(resetIn(this.#phase)));
      keeper.closed(this);
    });
  }

  get hostHeader(): string {
    return this.#way.hostHeader;
  }

  get address(): string {
    return this.#way.address;
  }

  get #phase(): Phase {
    return this.#exchange?.deadline.phase ?? "response";
  }

  get isOpen(): boolean {
    return this.#way.socket.writable;
  }

  /**
   * Resolves to the final status when the head of the answer is complete. The body changes nothing. It is read and dropped, up
   * to a limit, so that the connection can be used again.
   */
  async post(request: Uint8Array, deadline: Deadline, onFirstByte?: () => void): Promise<number> {
    return new Promise((resolve, reject) => {
      this.hasAnswered = false;
      this.#isUsedSince = true;
      this.#exchange = { answer: new Answer(), deadline, resolve, reject, onFirstByte };
      deadline.guard((why) => this.#break(why));
      deadline.phase = "request";
      this.#way.socket.write(request, () => {
        deadline.phase = "response";
      });
    });
  }

  /**
   * Closes the connection if more has arrived than any answer holds, counted from the first call after a request. OpenSSL
   * handles records without data by itself. So they never reach us, but a flood of them could occupy our thread.
   */
  breakFlood(): void {
    const { bytesRead } = this.#way.raw;
    if (this.#isUsedSince) {
      this.#isUsedSince = false;
      this.#rawBytesBefore = bytesRead;
    } else if (bytesRead - this.#rawBytesBefore > RAW_BYTES_MAX) {
      this.#break(new PostFailed(unreachable("protocol_error")));
    }
  }

  destroy(): void {
    this.#way.socket.destroy();
  }

  #take(chunk: Buffer): void {
    const exchange = this.#exchange;
    if (!this.hasAnswered) exchange?.onFirstByte?.();
    this.hasAnswered = true;
    if (exchange === null) {
      this.destroy(); // There is no request.
      return;
    }
    const wasAnswered = exchange.answer.head !== null;
    const progress = exchange.answer.take(chunk);
    const { head } = exchange.answer;

    if (head !== null && !wasAnswered) exchange.resolve(head.status);
    if (progress === "bad")
      this.#break(new PostFailed(unreachable("protocol_error", exchange.answer.fault)));
    else if (progress === "complete") this.#complete(exchange, head);
    else if (head !== null && !wasAnswered) this.#keeper.draining(this);
  }

  #complete({ deadline }: Exchange, head: AnswerHead | null): void {
    deadline.lift();
    this.#exchange = null;
    const idleMs = idleMsAfter(head);
    if (idleMs <= 0) {
      this.destroy();
      return;
    }
    const { socket } = this.#way;
    if (socket.timeout !== idleMs) socket.setTimeout(idleMs);
    this.#keeper.idle(this);
  }

  #break(why: PostFailed): void {
    const exchange = this.#exchange;
    this.#exchange = null;
    if (exchange !== null && exchange.answer.head !== null) exchange.deadline.lift();
    exchange?.reject(why); // Has no effect once the status is known.
    this.destroy();
  }
}

function idleMsAfter(head: AnswerHead | null): number {
  if (head?.keepsAlive !== true) return 0;
  if (head.idleSeconds === null) return IDLE_MS;
  return Math.min(head.idleSeconds * 1000 - IDLE_MARGIN_MS, ANNOUNCED_IDLE_MS_MAX);
}
