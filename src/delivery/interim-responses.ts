import type { TLSSocket } from "node:tls";
import { TOO_MUCH_INTERIM, UNASKED_SWITCH } from "./outcome-of-error.ts";

/** As much of a response as has to be there to know whether it is interim. */
const SHORTEST = "HTTP/1.1 100";
const FIRST_DIGIT_AT = SHORTEST.indexOf("1", SHORTEST.indexOf(" "));
const ONE = 0x31;
const INTERIM_BYTES_MAX = 16 * 1024;
const END_OF_HEAD = "\r\n\r\n";
const NOTHING = Buffer.alloc(0);

/**
 * Cuts interim responses (1xx) off the front of an answer, before undici reads it. A receiver may send
 * any number of them at any time (RFC 9110, 15.2), but undici takes an unasked-for "100 Continue" for
 * a fault and bounds neither their number nor their size.
 */
export class InterimResponses {
  readonly #socket: TLSSocket;
  #expectsHead = false;
  #held: Buffer = NOTHING;
  #interimBytes = 0;
  /** Whether anything at all has come since the last request. */
  hasAnswered = false;

  constructor(socket: TLSSocket) {
    this.#socket = socket;
    const read = socket.read.bind(socket) as (size?: number) => Buffer | null;
    socket.read = (size?: number) => {
      for (let chunk = read(size); chunk !== null; chunk = read(size)) {
        const rest = this.#expectsHead ? this.#cut(chunk) : chunk;
        if (rest !== null) return rest;
      }
      return null;
    };
  }

  /** A request goes out; what comes next is the head of its answer. */
  expectHead(): void {
    this.#expectsHead = true;
    this.#held = NOTHING;
    this.#interimBytes = 0;
    this.hasAnswered = false;
  }

  /** The final response's bytes, or null as long as there are none. */
  #cut(chunk: Buffer): Buffer | null {
    this.hasAnswered = true;
    let rest = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    this.#held = NOTHING;

    for (;;) {
      const status = statusOf(rest);
      if (status === "unknown") return this.#hold(rest);
      if (status === "101") return this.#refuse(UNASKED_SWITCH);
      if (status === "final") {
        this.#expectsHead = false;
        return rest;
      }
      const end = rest.indexOf(END_OF_HEAD);
      if (end === -1) return this.#hold(rest);
      this.#interimBytes += end + END_OF_HEAD.length;
      if (this.#interimBytes > INTERIM_BYTES_MAX) return this.#refuse(TOO_MUCH_INTERIM);
      rest = rest.subarray(end + END_OF_HEAD.length);
      if (rest.length === 0) return this.#hold(rest);
    }
  }

  #hold(rest: Buffer): null {
    this.#held = rest;
    if (this.#interimBytes + rest.length > INTERIM_BYTES_MAX) return this.#refuse(TOO_MUCH_INTERIM);
    return null;
  }

  #refuse(code: string): null {
    this.#socket.destroy(Object.assign(new Error("bad interim response"), { code }));
    return null;
  }
}

function statusOf(head: Buffer): "final" | "interim" | "101" | "unknown" {
  if (head.length >= SHORTEST.length && head[FIRST_DIGIT_AT] !== ONE) return "final";
  const start = head.toString("latin1", 0, SHORTEST.length);
  const likeliest = start + SHORTEST.slice(start.length);
  if (!/^HTTP\/1\.[01] 1/.test(likeliest)) return "final"; // Or nonsense, which undici refuses.
  if (start.length < SHORTEST.length) return "unknown";
  return start.endsWith("101") ? "101" : "interim";
}
