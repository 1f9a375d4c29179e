import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { Answer } from "./answer.ts";
import type { AnswerHead } from "./answer-head.ts";
import { AttemptFailed, unreachable } from "./attempt-failed.ts";
import type { Deadline } from "./deadline.ts";
import { outcomeOfExchange, RESET } from "./outcome-of-error.ts";

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

/** A request that was sent, and the answer so far. */
interface Exchange {
  answer: Answer;
  deadline: Deadline;
  resolve: (httpStatus: number) => void;
  reject: (why: AttemptFailed) => void;
  onFirstByte: (() => void) | undefined;
}

/** One TLS connection to one vetted address, for one request at a time. */
export class Connection {
  readonly hostHeader: string;
  readonly address: string;
  readonly #socket: TLSSocket;
  readonly #raw: Pick<Socket, "bytesRead">;
  readonly #keeper: ConnectionKeeper;
  #exchange: Exchange | null = null;
  #tickets = 0;
  #rawBytesBefore = 0;
  #isUsedSince = true;
  /** True if the receiver has sent data since the last request. */
  hasAnswered = false;

  constructor(
    {
      hostHeader,
      address,
      socket,
      raw,
    }: { hostHeader: string; address: string; socket: TLSSocket; raw: Pick<Socket, "bytesRead"> },
    keeper: ConnectionKeeper,
  ) {
    this.hostHeader = hostHeader;
    this.address = address;
    this.#socket = socket;
    this.#raw = raw;
    this.#keeper = keeper;
    socket.setTimeout(IDLE_MS);
    socket.on("data", (chunk: Buffer) => {
      this.#take(chunk);
    });
    socket.on("session", () => {
      if (++this.#tickets > TICKETS_MAX) this.destroy();
    });
    socket.on("timeout", () => {
      if (this.#exchange === null) this.destroy(); // During a request, its deadline applies.
    });
    socket.on("error", (error) => {
      this.#break(new AttemptFailed(outcomeOfExchange(error), error));
    });
    socket.once("close", () => {
      this.#break(new AttemptFailed(RESET));
      keeper.closed(this);
    });
  }

  get isOpen(): boolean {
    return this.#socket.writable;
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
      deadline.guard((why) => {
        this.#break(why);
      });
      this.#socket.write(request);
    });
  }

  /**
   * Closes the connection if more has arrived than any answer holds, counted from the first call after a request. OpenSSL
   * handles records without data by itself. So they never reach us, but a flood of them could occupy our thread.
   */
  breakFlood(): void {
    const { bytesRead } = this.#raw;
    if (this.#isUsedSince) {
      this.#isUsedSince = false;
      this.#rawBytesBefore = bytesRead;
    } else if (bytesRead - this.#rawBytesBefore > RAW_BYTES_MAX) {
      this.#break(new AttemptFailed(unreachable("protocol_error")));
    }
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #take(chunk: Buffer): void {
    if (!this.hasAnswered) this.#exchange?.onFirstByte?.();
    this.hasAnswered = true;
    const exchange = this.#exchange;
    if (exchange === null) {
      this.destroy(); // There is no request.
      return;
    }
    const wasAnswered = exchange.answer.head !== null;
    const progress = exchange.answer.take(chunk);
    const { head } = exchange.answer;

    if (head !== null && !wasAnswered) exchange.resolve(head.status);
    if (progress === "bad") this.#break(new AttemptFailed(unreachable("protocol_error")));
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
    if (this.#socket.timeout !== idleMs) this.#socket.setTimeout(idleMs);
    this.#keeper.idle(this);
  }

  #break(why: AttemptFailed): void {
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
