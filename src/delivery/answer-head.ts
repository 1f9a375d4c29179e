import { BadAnswer } from "./bad-answer.ts";

/** How the end of a body can be told (RFC 9112, 6.3). */
export type Framing = { kind: "length"; bytes: number } | { kind: "chunks" } | { kind: "close" };

/** What the head of an answer says, as far as it matters to a sender of deliveries. */
export interface AnswerHead {
  status: number;
  framing: Framing;
  /** Whether the receiver takes another request over the same connection. */
  keepsAlive: boolean;
  /** For how long it waits for that one, if it says so. */
  idleSeconds: number | null;
}

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/;
const FIELD = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):([\t\x20-\x7e\x80-\xff]*)$/;
const LENGTH = /^[\t ]*(\d{1,15})[\t ]*$/;
const CHUNKED_AT_LAST = /(?:^|,)[\t ]*chunked[\t ]*$/i;
const NO_BODY: Framing = { kind: "length", bytes: 0 };

/** Takes the lines of a head without the empty one behind them. */
export function readAnswerHead([statusLine = "", ...fieldLines]: string[]): AnswerHead {
  const [, minor, digits] = STATUS_LINE.exec(statusLine) ?? [];
  if (digits === undefined) throw new BadAnswer("a malformed status line");

  const status = Number(digits);
  const fields = readFields(fieldLines);
  const framing = framingOf(fields);
  const connection = fields.get("connection")?.toLowerCase() ?? "";
  return {
    status,
    framing: status === 204 || status === 304 ? NO_BODY : framing,
    keepsAlive: minor === "1" ? !connection.includes("close") : connection.includes("keep-alive"),
    idleSeconds: secondsOf(fields.get("keep-alive")),
  };
}

/** By their names in lower case. The values of a name that comes again are joined by commas. */
function readFields(lines: string[]): Map<string, string> {
  const fields = new Map<string, string>();
  for (const line of unfolded(lines)) {
    const [, name, value] = FIELD.exec(line) ?? [];
    if (name === undefined || value === undefined) throw new BadAnswer("a malformed header");
    const key = name.toLowerCase();
    const earlier = fields.get(key);
    fields.set(key, earlier === undefined ? value : `${earlier},${value}`);
  }
  return fields;
}

/** A line that begins with white space goes on with the one before (RFC 9112, 5.2). */
function unfolded(lines: string[]): string[] {
  if (!lines.some((line) => /^[\t ]/.test(line))) return lines;
  return lines
    .join("\n")
    .replace(/\n[\t ]/g, " ")
    .split("\n");
}

function framingOf(fields: Map<string, string>): Framing {
  const codings = fields.get("transfer-encoding");
  const length = fields.get("content-length");
  if (codings !== undefined) {
    if (length !== undefined) throw new BadAnswer("a length beside a transfer coding");
    return { kind: CHUNKED_AT_LAST.test(codings) ? "chunks" : "close" };
  }
  if (length === undefined) return { kind: "close" };
  const [, digits] = LENGTH.exec(length) ?? [];
  if (digits === undefined) throw new BadAnswer("a malformed length");
  return { kind: "length", bytes: Number(digits) };
}

function secondsOf(keepAlive: string | undefined): number | null {
  const [, digits] = /timeout=(\d{1,6})/i.exec(keepAlive ?? "") ?? [];
  return digits === undefined ? null : Number(digits);
}
