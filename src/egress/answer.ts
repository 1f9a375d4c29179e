import type { DETAILS } from "./outcome.ts";

/** An answer that is not HTTP/1.1, or that exceeds our limits. Each becomes `protocol_error`. The text is for readers of the code. */
class BadAnswer extends Error {
  readonly detail: ProtocolDetail;

  constructor(message: string, detail: ProtocolDetail = "malformed_headers") {
    super(message);
    this.detail = detail;
  }
}

type ProtocolDetail = (typeof DETAILS)["protocol_error"][number];

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
  /** Why it is bad. Null: for another reason. */
  fault: ProtocolDetail | null = null;
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
      if (!(error instanceof BadAnswer)) throw error;
      this.fault = error.detail;
      return "bad";
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
      if (!this.#arrived.mayStartWith(start)) throw noStatusLine(this.#arrived.start);
      const line = this.#arrived.takeLine();
      if (line !== undefined) {
        this.#spend(line.length + 2);
        return line;
      }
      if (this.#arrived.length > this.#bytesLeft)
        throw new BadAnswer("a line that is too long", "headers_too_large");
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
    if (this.#bytesLeft < 0) throw new BadAnswer("an answer that is too long", "headers_too_large");
  }
}

/** How the end of a body is determined (RFC 9112, 6.3). */
type Framing = { kind: "length"; bytes: number } | { kind: "chunks" } | { kind: "close" };

/** The parts of an answer's head that matter to a post. */
export interface AnswerHead {
  status: number;
  framing: Framing;
  /** True if the receiver accepts another request over the same connection. */
  keepsAlive: boolean;
  /** How long the receiver waits for the next request. Null if it does not say. */
  idleSeconds: number | null;
}

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/;
const STATUS_VERSION = /^HTTP\/1\.[01](?:[^\d]|$)/;
/** The types SETTINGS and GOAWAY of frames of HTTP/2, behind their length of three bytes (RFC 9113, 4.1). */
const HTTP2_FRAMES = [4, 7];
/** The same length may be repeated (RFC 9110, 8.6). */
const LENGTH = /^[\t ]*(\d+)[\t ]*(?:,[\t ]*\1[\t ]*)*$/;
const LENGTH_END = 2n ** 64n;
/** A tab may follow the word, but other readers take it for a part of the coding. */
const CHUNKED_AT_LAST = /(?:^|,)[\t ]*chunked *$/i;
const EMPTY_MEMBER = /(?:^|,)[\t ]*(?:,|$)/;
const CLOSE = /(?:^|,)[\t ]*close[\t ]*(?:,|$)/i;
const KEEP_ALIVE = /(?:^|,)[\t ]*keep-alive[\t ]*(?:,|$)/i;
const TIMEOUT = /(?:^|,)[\t ]*timeout=(\d+)/i;
const NO_BODY: Framing = { kind: "length", bytes: 0 };

/** Takes the lines of a head, without the empty line after them. */
function readAnswerHead([statusLine = "", ...fieldLines]: string[]): AnswerHead {
  const [, minor, digits] = STATUS_LINE.exec(statusLine) ?? [];
  if (digits === undefined)
    throw new BadAnswer(
      "a malformed status line",
      STATUS_VERSION.test(statusLine) ? "malformed_headers" : "http_version",
    );

  const status = Number(digits);
  const isOld = minor === "0";
  const lines = unfolded(fieldLines);
  const isFolded = lines.length < fieldLines.length;
  const fields = readFields(lines);
  const framing = framingOf(fields);
  return {
    status,
    framing: status === 204 || status === 304 ? NO_BODY : framing,
    // Readers differ on folded lines, too.
    keepsAlive: !isFolded && !isAmbiguous(fields, isOld) && staysOpen(fields, isOld),
    idleSeconds: secondsOf(fields.get("keep-alive")),
  };
}

function noStatusLine(start: string): BadAnswer {
  if (start.startsWith("\0") && HTTP2_FRAMES.includes(start.charCodeAt(3)))
    return new BadAnswer("a frame of HTTP/2", "http2_only");
  const isHttp = start.startsWith("HTTP/");
  return new BadAnswer("no status line", isHttp ? "http_version" : "not_http");
}

/** Joins each line that begins with white space to the line before (RFC 9112, 5.2). */
function unfolded(lines: string[]): string[] {
  if (!lines.some((line) => /^[\t ]/.test(line))) return lines;
  return lines
    .join("\n")
    .replace(/\n[\t ]/g, " ")
    .split("\n");
}

function framingOf(fields: Fields): Framing {
  const codings = fields.get("transfer-encoding");
  const length = fields.get("content-length");
  const bytes = length === undefined ? null : bytesOf(length);
  if (codings !== undefined) return { kind: CHUNKED_AT_LAST.test(codings) ? "chunks" : "close" };
  return bytes === null ? { kind: "close" } : { kind: "length", bytes };
}

function bytesOf(length: string): number {
  const [, digits] = LENGTH.exec(length) ?? [];
  if (digits === undefined || BigInt(digits) >= LENGTH_END)
    throw new BadAnswer("a malformed length");
  return Number(digits);
}

/** True if readers differ on where the answer ends. Its status counts, but its connection is not used again. */
function isAmbiguous(fields: Fields, isOld: boolean): boolean {
  const codings = fields.get("transfer-encoding");
  const length = fields.get("content-length");
  if (codings === undefined) return length?.includes(",") === true;
  return isOld || length !== undefined || EMPTY_MEMBER.test(codings);
}

function staysOpen(fields: Fields, isOld: boolean): boolean {
  const connection = fields.get("connection") ?? "";
  // `Proxy-Connection` is not HTTP, but a receiver that sends `close` in it does close.
  const proxyConnection = fields.get("proxy-connection") ?? "";
  if (CLOSE.test(connection) || CLOSE.test(proxyConnection)) return false;
  return !isOld || KEEP_ALIVE.test(connection);
}

function secondsOf(keepAlive: string | undefined): number | null {
  const [, digits] = TIMEOUT.exec(keepAlive ?? "") ?? [];
  return digits === undefined ? null : Number(digits);
}

const FIELD = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):([\t\x20-\x7e\x80-\xff]*)$/;

/** The fields of a head or of trailers. Names are in lower case. The values of a repeated name are joined by commas. */
type Fields = ReadonlyMap<string, string>;

function readFields(lines: string[]): Fields {
  const fields = new Map<string, string>();
  for (const line of lines) {
    const [, name, value] = FIELD.exec(line) ?? [];
    if (name === undefined || value === undefined) throw new BadAnswer("a malformed field");
    const key = name.toLowerCase();
    const earlier = fields.get(key);
    fields.set(key, earlier === undefined ? value : `${earlier},${value}`);
  }
  return fields;
}

/** The part of a message that has arrived and is not read yet, one character for each byte. */
class ArrivedText {
  #text = "";
  #at = 0;

  get length(): number {
    return this.#text.length - this.#at;
  }

  /** Its first characters. */
  get start(): string {
    return this.#text.slice(this.#at, this.#at + 8);
  }

  append(chunk: Buffer): void {
    const text = chunk.toString("latin1");
    this.#text = this.length === 0 ? text : this.#text.slice(this.#at) + text;
    this.#at = 0;
  }

  /** Returns true if the text starts with `start`, or may when more arrives. */
  mayStartWith(start: string): boolean {
    return start.startsWith(this.#text.slice(this.#at, this.#at + start.length));
  }

  /** Returns the next line without its CRLF, or undefined while it is incomplete. */
  takeLine(): string | undefined {
    const end = this.#text.indexOf("\n", this.#at);
    if (end === -1) return undefined;
    if (end === this.#at || this.#text[end - 1] !== "\r")
      throw new BadAnswer("a line feed without a carriage return");
    const line = this.#text.slice(this.#at, end - 1);
    this.#at = end + 1;
    return line;
  }

  /** Removes up to `length` characters, and returns how many it removed. */
  skip(length: number): number {
    const skipped = Math.min(length, this.length);
    this.#at += skipped;
    return skipped;
  }
}
