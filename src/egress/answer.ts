import { type AnswerHead, readAnswerHead } from "./answer-head.ts";
import { ArrivedText } from "./arrived-text.ts";
import { readFields, BadAnswer } from "./fields.ts";

/** The limit of all heads together. A receiver may send any number of interim answers (RFC 9110, 15.2). */
const HEAD_BYTES_MAX = 16 * 1024;
const BODY_BYTES_MAX = 64 * 1024;
/** The limit of reads, however small each one is. A read costs us more than its bytes do. */
const PIECES_MAX = 1_024;
/** The only final status below 200. HTTP ends after it. */
const SWITCHING_PROTOCOLS = 101;
/** We ignore extensions (RFC 9112, 7.1.1). Readers differ on quoted values and empty names, so these are refused. */
const CHUNK = /^([\da-f]+)(?:;[\w-]+(?:=[\w-]+)?)*$/i;

/** Forbidden in trailers (RFC 9110, 6.5.1). */
const FRAMING_FIELDS = ["content-length", "transfer-encoding"];

export type Progress = "incomplete" | "complete" | "bad";

/** Yields when it needs more input. */
type Reading<Result> = Generator<undefined, Result, undefined>;

/**
 * The answer to one request, read as it arrives (RFC 9112). The body is read only to find its end, up to a limit, and dropped.
 */
export class Answer {
  /** The final head, as soon as it is complete. The rest of the answer cannot change it. */
  head: AnswerHead | null = null;
  readonly #arrived = new ArrivedText();
  readonly #reading = this.#read();
  #bytesLeft = HEAD_BYTES_MAX;
  #piecesLeft = PIECES_MAX;

  take(chunk: Buffer): Progress {
    if (this.#piecesLeft-- === 0) return "bad";
    this.#arrived.append(chunk);
    try {
      if (this.#reading.next().done !== true) return "incomplete";
      return this.#arrived.length === 0 ? "complete" : "bad"; // More than one answer.
    } catch (error) {
      if (error instanceof BadAnswer) return "bad";
      throw error;
    }
  }

  *#read(): Reading<void> {
    let head = yield* this.#readHead();
    while (head.status < 200 && head.status !== SWITCHING_PROTOCOLS) {
      const { keepsAlive } = head;
      head = yield* this.#readHead();
      head.keepsAlive &&= keepsAlive;
    }
    this.head = head;
    if (head.status === SWITCHING_PROTOCOLS) throw new BadAnswer("a switch to another protocol");
    this.#bytesLeft = BODY_BYTES_MAX;
    const { framing } = head;
    if (framing.kind === "length") yield* this.#skip(framing.bytes);
    else if (framing.kind === "chunks") yield* this.#skipChunks();
    else yield* this.#skip(Infinity);
  }

  *#readHead(): Reading<AnswerHead> {
    const statusLine = yield* this.#line("HTTP/1.");
    return readAnswerHead([statusLine, ...(yield* this.#lines())]);
  }

  *#skipChunks(): Reading<void> {
    for (;;) {
      const [, digits] = CHUNK.exec(yield* this.#line()) ?? [];
      if (digits === undefined) throw new BadAnswer("a malformed chunk");
      const bytes = parseInt(digits, 16);
      if (bytes === 0) break;
      yield* this.#skip(bytes);
      if ((yield* this.#line()) !== "")
        throw new BadAnswer("a chunk longer than its declared size");
    }
    const trailers = readFields(yield* this.#lines());
    if (FRAMING_FIELDS.some((name) => trailers.has(name)))
      throw new BadAnswer("a framing field in the trailers");
  }

  /** Reads the lines up to the next empty one. */
  *#lines(): Reading<string[]> {
    const lines: string[] = [];
    for (let line = yield* this.#line(); line !== ""; line = yield* this.#line()) lines.push(line);
    return lines;
  }

  /** Throws as soon as the line cannot begin with `start`, because such a line may never end. */
  *#line(start = ""): Reading<string> {
    for (;;) {
      if (!this.#arrived.mayStartWith(start)) throw new BadAnswer("no status line");
      const line = this.#arrived.takeLine();
      if (line !== undefined) {
        this.#spend(line.length + 2);
        return line;
      }
      if (this.#arrived.length > this.#bytesLeft) throw new BadAnswer("a line that is too long");
      yield;
    }
  }

  *#skip(length: number): Reading<void> {
    for (let left = length; left > 0;) {
      const skipped = this.#arrived.skip(left);
      this.#spend(skipped);
      left -= skipped;
      if (left > 0) yield;
    }
  }

  #spend(bytes: number): void {
    this.#bytesLeft -= bytes;
    if (this.#bytesLeft < 0) throw new BadAnswer("an answer that is too long");
  }
}
