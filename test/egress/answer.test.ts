import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Answer, type Progress } from "../../src/egress/answer.ts";

const OK = "HTTP/1.1 200 OK\r\n";
const OLD = "HTTP/1.0 200 OK\r\n";
const EMPTY = "content-length: 0\r\n\r\n";
const CHUNKED = `${OK}Transfer-Encoding: chunked\r\n\r\n`;
const KIB = 1024;
const PIECES_MAX = 1_024;

type Expected = [progress: Progress, status?: number, keepsAlive?: boolean];

const WHOLE: Expected = ["complete", 200, true];
const NOT_KEPT: Expected = ["complete", 200, false];
const GOES_ON: Expected = ["incomplete", 200, true];
const STATUS_AND_NO_MORE: Expected = ["bad", 200, true];
const NOTHING_YET: Expected = ["incomplete"];
const NO_ANSWER: Expected = ["bad"];

const ANSWERS: Record<string, [bytes: string, expected: Expected]> = {
  // The head
  "no body": [`${OK}Content-Length: 0\r\n\r\n`, WHOLE],
  "no reason phrase": ["HTTP/1.1 200\r\ncontent-length:0\r\n\r\n", WHOLE],
  "a reason phrase of Latin-1": [`HTTP/1.1 200 \xe9t\xe9\r\n${EMPTY}`, WHOLE],
  "white space around a value": [`${OK}content-length: \t 2 \t\r\n\r\nok`, WHOLE],
  "a header over two lines": [`${OK}x: a\r\n b\r\n\tc\r\n${EMPTY}`, NOT_KEPT],
  "a length on a line of its own": [`${OK}content-length:\r\n 2\r\n\r\nok`, NOT_KEPT],
  "a head of 16 KiB": [`${OK}x: ${"y".repeat(16 * KIB - 43)}\r\n${EMPTY}`, WHOLE],
  "a head of a byte more": [`${OK}x: ${"y".repeat(16 * KIB - 42)}\r\n${EMPTY}`, NO_ANSWER],
  "half a status line": ["HTTP/1.1 20", NOTHING_YET],
  "half a head": [`${OK}content-length: 0\r\n`, NOTHING_YET],
  "no HTTP from the first byte on": ["h", NO_ANSWER],
  "an empty line first": ["\r\n", NO_ANSWER],
  "a control character in the reason phrase": ["HTTP/1.1 200 O\x7fK\r\n\r\n", NO_ANSWER],
  "a control character in a value": [`${OK}x: a\x01b\r\n\r\n`, NO_ANSWER],
  "a carriage return within a value": [`${OK}x: a\rb\r\n\r\n`, NO_ANSWER],
  "a line feed without a carriage return": [`${OK}x: a\n`, NO_ANSWER],
  "a line feed right behind a line": [`${OK}\n`, NO_ANSWER],
  "white space in a header's name": [`${OK}x y: z\r\n\r\n`, NO_ANSWER],

  // Interim answers
  "interim answers first": [
    `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 E\r\nlink: </>\r\n\r\n${OK}${EMPTY}`,
    WHOLE,
  ],
  "an interim answer that claims a body": [
    `HTTP/1.1 102 P\r\ncontent-length: 5\r\n\r\n${OK}${EMPTY}`,
    WHOLE,
  ],
  "an interim answer that ends the connection": [
    `HTTP/1.1 103 E\r\nconnection: close\r\n\r\n${OK}${EMPTY}`,
    NOT_KEPT,
  ],
  "an interim answer of HTTP/1.0": [`HTTP/1.0 100 C\r\n\r\n${OK}${EMPTY}`, NOT_KEPT],
  "only an interim answer": ["HTTP/1.1 100 Continue\r\n\r\n", NOTHING_YET],
  "a switch of protocols": ["HTTP/1.1 101 Switching Protocols\r\n\r\n", ["bad", 101, true]],
  "16 KiB of interim answers": ["HTTP/1.1 100 C\r\n\r\n".repeat(911), NO_ANSWER],

  // Lengths
  "a body": [`${OK}Content-Length: 5\r\n\r\nhello`, WHOLE],
  "half a body": [`${OK}Content-Length: 5\r\n\r\nhel`, GOES_ON],
  "more than its length": [`${OK}Content-Length: 5\r\n\r\nhello!`, STATUS_AND_NO_MORE],
  "a body of 64 KiB": [`${OK}Content-Length: 65536\r\n\r\n${"a".repeat(64 * KIB)}`, WHOLE],
  "a body of a byte more": [
    `${OK}Content-Length: 65537\r\n\r\n${"a".repeat(64 * KIB + 1)}`,
    STATUS_AND_NO_MORE,
  ],
  "204 and a length": [
    "HTTP/1.1 204 No Content\r\ncontent-length: 5\r\n\r\n",
    ["complete", 204, true],
  ],
  "304 and a length": [
    "HTTP/1.1 304 Not Modified\r\ncontent-length: 5\r\n\r\n",
    ["complete", 304, true],
  ],
  "a length that is hexadecimal": [`${OK}content-length: 0x0\r\n\r\n`, NO_ANSWER],
  "a length that is empty": [`${OK}content-length:\r\n\r\n`, NO_ANSWER],
  "a length with many zeros": [`${OK}content-length: ${"0".repeat(30)}2\r\n\r\nok`, WHOLE],
  "the longest length of 64 bits": [`${OK}content-length: ${2n ** 64n - 1n}\r\n\r\n`, GOES_ON],
  "a length of 65 bits": [`${OK}content-length: ${2n ** 64n}\r\n\r\n`, NO_ANSWER],
  "the same length twice": [`${OK}content-length: 0\r\n${EMPTY}`, NOT_KEPT],
  "the same length twice in a line": [`${OK}content-length: 0 ,\t0\r\n\r\n`, NOT_KEPT],
  "two lengths": [`${OK}content-length: 0\r\ncontent-length: 1\r\n\r\n`, NO_ANSWER],
  "no length": [`${OK}\r\nhello`, GOES_ON],

  // Chunks
  chunks: [`${CHUNKED}5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n`, WHOLE],
  "chunks behind another coding": [
    `${OK}transfer-encoding: gzip\r\ntransfer-encoding: Chunked\r\n\r\n0\r\n\r\n`,
    WHOLE,
  ],
  "a coding without an end": [`${OK}transfer-encoding: chunked, gzip\r\n\r\n0\r\n\r\n`, GOES_ON],
  "an empty coding": [`${OK}transfer-encoding: , chunked\r\n\r\n0\r\n\r\n`, NOT_KEPT],
  "an empty coding without a body": [
    "HTTP/1.1 204 N\r\ntransfer-encoding:\r\n\r\n",
    ["complete", 204, false],
  ],
  "a tab behind chunked": [`${OK}transfer-encoding: chunked\t\r\n\r\n0\r\n\r\n`, GOES_ON],
  "chunks and a length": [
    `${OK}content-length: 9\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
    NOT_KEPT,
  ],
  "chunks and a malformed length": [
    `${OK}content-length: x\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
    NO_ANSWER,
  ],
  "extensions of chunks": [`${CHUNKED}1;a=b;c\r\nx\r\n0;c\r\n\r\n`, WHOLE],
  "a chunk's extension in quotation marks": [`${CHUNKED}0;a="b"\r\n\r\n`, STATUS_AND_NO_MORE],
  "an empty extension of a chunk": [`${CHUNKED}0;\r\n\r\n`, STATUS_AND_NO_MORE],
  "white space behind a chunk's length": [`${CHUNKED}0 \r\n\r\n`, STATUS_AND_NO_MORE],
  "a chunk's length with many zeros": [`${CHUNKED}${"0".repeat(30)}\r\n\r\n`, WHOLE],
  "a chunk of sixteen": [`${CHUNKED}0010\r\n0123456789abcdef\r\n0\r\n\r\n`, WHOLE],
  trailers: [`${CHUNKED}0\r\nx: y\r\nz: \r\n\r\n`, WHOLE],
  "a malformed trailer": [`${CHUNKED}0\r\nx\r\n\r\n`, STATUS_AND_NO_MORE],
  "white space before a trailer's colon": [`${CHUNKED}0\r\nx : y\r\n\r\n`, STATUS_AND_NO_MORE],
  "a trailer over two lines": [`${CHUNKED}0\r\nx: y\r\n z\r\n\r\n`, STATUS_AND_NO_MORE],
  "a length in a trailer": [`${CHUNKED}0\r\n${EMPTY}`, STATUS_AND_NO_MORE],
  "a coding in a trailer": [`${CHUNKED}0\r\ntransfer-encoding: x\r\n\r\n`, STATUS_AND_NO_MORE],
  "no end of the trailers": [`${CHUNKED}0\r\nx: y\r\n`, GOES_ON],
  "a chunk shorter than its declared size": [`${CHUNKED}6\r\nhello\r\n`, STATUS_AND_NO_MORE],
  "a chunk longer than its declared size": [`${CHUNKED}4\r\nhello\r\n`, STATUS_AND_NO_MORE],
  "a chunk without a length": [`${CHUNKED}\r\n`, STATUS_AND_NO_MORE],
  "a chunk of a negative length": [`${CHUNKED}-1\r\n`, STATUS_AND_NO_MORE],
  "64 KiB of chunks": [`${CHUNKED}${"1\r\na\r\n".repeat(11_000)}`, STATUS_AND_NO_MORE],

  // The connection
  "a wish to close": [`${OK}connection: Close\r\n${EMPTY}`, NOT_KEPT],
  "a wish to close among others": [`${OK}connection: x,\t\tCLOSE\t,y\r\n${EMPTY}`, NOT_KEPT],
  "a wish to close in Proxy-Connection": [`${OK}proxy-connection: close\r\n${EMPTY}`, NOT_KEPT],
  "a wish that begins with close": [`${OK}connection: closed\r\n${EMPTY}`, WHOLE],
  "HTTP/1.0": [`${OLD}${EMPTY}`, NOT_KEPT],
  "HTTP/1.0 that is kept": [`${OLD}connection: Keep-Alive\r\n${EMPTY}`, WHOLE],
  "HTTP/1.0 and a wish that begins with keep-alive": [
    `${OLD}connection: keep-alivex\r\n${EMPTY}`,
    NOT_KEPT,
  ],
  "HTTP/1.0 and both wishes": [`${OLD}connection: keep-alive, close\r\n${EMPTY}`, NOT_KEPT],
  "HTTP/1.0 and keep-alive in Proxy-Connection": [
    `${OLD}proxy-connection: keep-alive\r\n${EMPTY}`,
    NOT_KEPT,
  ],
  "HTTP/1.0 and chunks": [
    `${OLD}connection: keep-alive\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
    NOT_KEPT,
  ],
};

for (const [what, [bytes, expected]] of Object.entries(ANSWERS)) {
  test(`an answer with ${what} is read alike in any pieces`, () => {
    assert.deepEqual(outcomeOf([bytes]), expected);
    const cut = fc.array(fc.integer({ min: 1, max: bytes.length }), { maxLength: 8 });
    fc.assert(
      fc.property(cut, (places) => {
        assert.deepEqual(outcomeOf(cutAt(bytes, places)), expected);
      }),
      { numRuns: 30 },
    );
    if (bytes.length < KIB)
      assert.deepEqual(
        outcomeOf(cutAt(bytes, [...Array(bytes.length).keys()])),
        expected,
        "byte by byte",
      );
  });
}

for (const [value, seconds] of [
  ["timeout=5, max=100", 5],
  ["max=100, Timeout=72", 72],
  ["max=100", null],
  ["xtimeout=5", null],
  ["max=1,timeout=1234567", 1234567],
] as const) {
  test(`the timeout of Keep-Alive: ${value} is ${seconds ?? "not set"}`, () => {
    const answer = new Answer();
    answer.take(Buffer.from(`${OK}keep-alive: ${value}\r\ncontent-length: 0\r\n\r\n`));
    assert.equal(answer.head?.idleSeconds, seconds);
  });
}

test("an answer in too many pieces is not read further, and its status counts", () => {
  const head = `${OK}content-length: ${PIECES_MAX}\r\n\r\n`;
  const letters = Array<string>(PIECES_MAX - 1).fill("x");
  assert.deepEqual(outcomeOf([head, ...letters]), GOES_ON);
  assert.deepEqual(outcomeOf([head, ...letters, "x"]), STATUS_AND_NO_MORE);
});

test("any input is read to its end without an exception", () => {
  const bytes = fc.oneof(
    fc.string({ unit: "binary" }),
    fc
      .array(fc.constantFrom(OK, "\r\n", "a: b\r\n", "content-length: 3\r\n", "\n", "abc", CHUNKED))
      .map((parts) => parts.join("")),
  );
  fc.assert(
    fc.property(fc.array(bytes), (pieces) => {
      const [progress, status] = outcomeOf(pieces);
      if (progress === "complete") assert.ok(status !== undefined && status >= 200);
    }),
  );
});

/** Pieces are fed until the answer has ended. */
function outcomeOf(pieces: string[]): Expected {
  const answer = new Answer();
  let progress: Progress = "incomplete";
  for (const [index, piece] of pieces.entries()) {
    progress = answer.take(Buffer.from(piece, "latin1"));
    if (progress === "complete" && index < pieces.length - 1) progress = "bad"; // No more data was requested.
    if (progress !== "incomplete") break;
  }
  return answer.head === null ? [progress] : [progress, answer.head.status, answer.head.keepsAlive];
}

function cutAt(bytes: string, places: number[]): string[] {
  const ascending = [0, ...places, bytes.length].sort((a, b) => a - b);
  return ascending
    .map((place, index) => bytes.slice(place, ascending[index + 1]))
    .filter((piece) => piece !== "");
}
