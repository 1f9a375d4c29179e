import { type Fields, readFields, BadAnswer } from "./fields.ts";

/** How the end of a body is determined (RFC 9112, 6.3). */
export type Framing = { kind: "length"; bytes: number } | { kind: "chunks" } | { kind: "close" };

/** The parts of an answer's head that matter to a sender of deliveries. */
export interface AnswerHead {
  status: number;
  framing: Framing;
  /** True if the receiver accepts another request over the same connection. */
  keepsAlive: boolean;
  /** How long the receiver waits for the next request. Null if it does not say. */
  idleSeconds: number | null;
}

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/;
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
export function readAnswerHead([statusLine = "", ...fieldLines]: string[]): AnswerHead {
  const [, minor, digits] = STATUS_LINE.exec(statusLine) ?? [];
  if (digits === undefined) throw new BadAnswer("a malformed status line");

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
