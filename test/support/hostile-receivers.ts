import { gzipSync } from "node:zlib";
import type { Outcome } from "../../src/subjects/deliveries/rules.ts";
import * as scripts from "./receiver-scripts.ts";
import type { ReceiverOptions, Script } from "./receiver.ts";

/** A hostile receiver, and the expected outcome of an attempt. */
export interface Hostile {
  script?: Script;
  receiver?: ReceiverOptions;
  outcome: Outcome;
  /** True if it uses the whole attempt timeout. Attempts at the others must end long before. */
  lasts?: true;
}

const MIB = 1024 * 1024;
const OK = "HTTP/1.1 200 OK\r\n";
const NO_BODY = "connection: close\r\ncontent-length: 0\r\n\r\n";
const CHUNKED = `${OK}transfer-encoding: chunked\r\n\r\n`;
const EARLY_HINTS = "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n";
const LETTERS = "a".repeat(16 * 1024);
const SPACES = " ".repeat(16 * 1024);

const DELIVERED = answered(200);
const TIMED_OUT = failed("timeout");
const RESET = failed("connection_reset");
const NO_TLS = failed("tls_error");
const NO_HTTP = failed("protocol_error");

export const HOSTILE_RECEIVERS: Record<string, Hostile> = {
  // Time
  "never sends the body": {
    script: scripts.raw(`${OK}content-length: 5\r\n\r\n`),
    outcome: DELIVERED,
    lasts: true,
  },
  "drips the body": {
    script: scripts.drip("x".repeat(999), 10, `${OK}\r\n`),
    outcome: DELIVERED,
    lasts: true,
  },
  "hangs before the status": { script: scripts.hang, outcome: TIMED_OUT, lasts: true },
  "drips the status line": slowly("HTTP/1.1 200 OK\r\n", 100),
  "drips headers without end": slowly(`${OK}${"x: y\r\n".repeat(99)}`, 10),
  "drips interim responses": slowly("HTTP/1.1 102 P\r\n\r\n".repeat(99), 10),
  "stalls in the handshake": {
    receiver: { accept: (socket) => socket.resume() },
    outcome: TIMED_OUT,
    lasts: true,
  },

  // Size
  "sends 10 GB": flood(`${OK}content-length: 10737418240\r\n\r\n`, Buffer.alloc(MIB), DELIVERED),
  "sends a body without end": flood(`${OK}\r\n`, Buffer.alloc(16 * 1024), DELIVERED),
  "sends a gzip bomb": {
    script: scripts.status(200, {
      headers: { "content-encoding": "gzip", connection: "close" },
      body: gzipSync(Buffer.alloc(100 * MIB)),
    }),
    outcome: DELIVERED,
  },
  "sends chunks of one byte without end": flood(CHUNKED, "1\r\na\r\n".repeat(999), DELIVERED),
  "sends a body in pieces of one byte": {
    script: ({ socket }) => {
      socket.write(`${OK}content-length: 60000\r\n\r\n`);
      for (let i = 0; i < 59_999; i++) socket.write("x");
    },
    outcome: DELIVERED,
    lasts: true,
  },
  "sends a chunk's extension without end": flood(`${CHUNKED}1;`, LETTERS, DELIVERED),
  "sends a chunk's length without end": flood(CHUNKED, "0".repeat(16 * 1024), DELIVERED),
  "sends trailers without end": flood(`${CHUNKED}0\r\n`, "x: y\r\n".repeat(999), DELIVERED),
  "sends white space in a trailer without end": flood(`${CHUNKED}0\r\nx:`, SPACES, DELIVERED),
  "sends interim responses without end": flood("", EARLY_HINTS, NO_HTTP),
  "sends more interim responses than any needs": nonsense(
    `${EARLY_HINTS.repeat(500)}${OK}${NO_BODY}`,
  ),
  "sends an interim response without end": flood(
    EARLY_HINTS.slice(0, -2),
    "link: </a>\r\n",
    NO_HTTP,
  ),
  "sends headers without end": flood(OK, `x: ${"y".repeat(999)}\r\n`, NO_HTTP),
  "sends empty headers without end": flood(OK, "x:\r\n".repeat(999), NO_HTTP),
  "sends white space in a header without end": flood(`${OK}x:`, SPACES, NO_HTTP),
  "sends a reason phrase without end": flood("HTTP/1.1 200 ", LETTERS, NO_HTTP),
  "sends empty lines without end": flood("", "\r\n".repeat(8_192), NO_HTTP),

  // Breaks
  "closes the connection without an answer": { script: scripts.hangUp, outcome: RESET },
  "resets the connection without an answer": { script: scripts.reset, outcome: RESET },
  "closes the connection within the headers": {
    script: scripts.rawAndEnd(`${OK}x: y\r\n`),
    outcome: RESET,
  },
  "closes the connection in mid-body": {
    script: scripts.rawAndEnd(`${OK}content-length: 100\r\n\r\nabc`),
    outcome: DELIVERED,
  },
  "resets the connection in mid-body": {
    script: scripts.rawAndReset(`${OK}content-length: 100\r\n\r\nabc`),
    outcome: DELIVERED,
  },

  // HTTP that is invalid
  "answers in HTTP/0.9": { script: scripts.rawAndEnd("<html>hello</html>"), outcome: NO_HTTP },
  "answers in HTTP/2 without agreement": nonsense("\0\0\x12\x04\0\0\0\0\0\0\x03\0\0\0\x64"),
  "answers with a request": nonsense("POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n"),
  "names an unknown version": nonsense(`HTTP/3.7 200 OK\r\n${NO_BODY}`),
  "sends a malformed status line": nonsense("HTTP/1.1 abc OK\r\n\r\n"),
  "sends a status of two digits": nonsense(`HTTP/1.1 20 OK\r\n${NO_BODY}`),
  "sends a status of four digits": nonsense(`HTTP/1.1 2000 OK\r\n${NO_BODY}`),
  "sends a status below 100": nonsense(`HTTP/1.1 099 OK\r\n${NO_BODY}`),
  "sends NUL in a header": nonsense(`${OK}x: a\0b\r\n${NO_BODY}`),
  "sends a header without a name": nonsense(`${OK}: y\r\n${NO_BODY}`),
  "sends white space before a colon": nonsense(`${OK}x : y\r\n${NO_BODY}`),
  "ends lines with only line feeds": nonsense("HTTP/1.1 200 OK\nconnection: close\n\n"),
  "names two lengths": nonsense(`${OK}content-length: 5\r\ncontent-length: 6\r\n\r\nhello`),
  "names a length and chunks": {
    script: scripts.raw(`${OK}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`),
    outcome: DELIVERED,
  },
  "names a negative length": nonsense(`${OK}content-length: -5\r\n\r\nhello`),
  "names a length beyond 64 bits": nonsense(`${OK}content-length: ${"9".repeat(30)}\r\n\r\n`),
  "sends a malformed body": {
    script: scripts.raw(`${CHUNKED}nonsense`),
    outcome: DELIVERED,
    lasts: true,
  },
  "sends 204 with a body": {
    script: scripts.raw("HTTP/1.1 204 No Content\r\ncontent-length: 5\r\n\r\nhello"),
    outcome: answered(204),
  },
  "sends a second answer without a request": {
    script: scripts.raw(`${OK}content-length: 0\r\n\r\n${OK}content-length: 0\r\n\r\n`),
    outcome: DELIVERED,
  },
  "sends an unknown status": {
    script: scripts.raw(`HTTP/1.1 999 Denied\r\n${NO_BODY}`),
    outcome: { kind: "refused", httpStatus: 999 },
  },

  // Redirection
  "switches protocols unasked": {
    script: scripts.raw(
      "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n",
    ),
    outcome: { kind: "refused", httpStatus: 101 },
  },
  "offers HTTP/2 by upgrade": {
    script: scripts.raw(
      `${OK}upgrade: h2,h2c\r\nconnection: upgrade, close\r\ncontent-length: 0\r\n\r\n`,
    ),
    outcome: DELIVERED,
  },
  ...Object.fromEntries(
    [301, 302, 303, 307, 308].map((status) => [
      `redirects to loopback with ${status}`,
      {
        script: toLoopback(status),
        outcome: { kind: "refused", httpStatus: status },
      } satisfies Hostile,
    ]),
  ),
  "names loopback in every header that could lead there": {
    script: toLoopback(200),
    outcome: DELIVERED,
  },

  // TLS
  "shows an expired certificate": { receiver: { certificate: "expired" }, outcome: NO_TLS },
  "shows a certificate of tomorrow": {
    receiver: { certificate: "not-yet-valid" },
    outcome: NO_TLS,
  },
  "shows a self-signed certificate": { receiver: { certificate: "self-signed" }, outcome: NO_TLS },
  "shows a certificate for another host": {
    receiver: { certifiedHosts: ["127.0.0.3"] },
    outcome: NO_TLS,
  },
  "demands a certificate of the sender": { receiver: { wantsCertificate: true }, outcome: NO_TLS },
  "speaks no TLS": {
    receiver: { accept: (socket) => socket.resume().end("HTTP/1.1 400 Bad Request\r\n\r\n") },
    outcome: NO_TLS,
  },
  "speaks an old TLS": { receiver: { tlsVersion: "TLSv1.1" }, outcome: NO_TLS },
  "exchanges keys over numbers of 8,192 bits": {
    receiver: { tlsVersion: "TLSv1.3", ecdhCurve: "ffdhe8192" },
    outcome: NO_TLS,
  },
  "begins the handshake anew": {
    receiver: { tlsVersion: "TLSv1.2" },
    script: scripts.renegotiate,
    outcome: NO_TLS,
  },
  "closes the connection in the handshake": {
    receiver: { accept: (socket) => socket.resume().end() },
    outcome: RESET,
  },
  "resets the connection in the handshake": {
    receiver: { accept: (socket) => socket.resetAndDestroy() },
    outcome: RESET,
  },
};

function answered(httpStatus: number): Outcome {
  return { kind: "acknowledged", httpStatus };
}

function failed(reason: Extract<Outcome, { kind: "unreachable" }>["reason"]): Outcome {
  return { kind: "unreachable", reason };
}

function slowly(bytes: string, everyMs: number): Hostile {
  return { script: scripts.drip(bytes, everyMs), outcome: TIMED_OUT, lasts: true };
}

function flood(head: string, more: string | Buffer, outcome: Outcome): Hostile {
  return { script: scripts.flood(head, more), outcome };
}

function nonsense(bytes: string): Hostile {
  return { script: scripts.raw(bytes), outcome: NO_HTTP };
}

/** Every header that could lead a client to another address. All contain the canaries' port. */
function toLoopback(status: number): Script {
  return (exchange) => {
    const there = `https://127.0.0.1:${exchange.received.connection.localPort ?? 0}/`;
    const headers = {
      location: there,
      "content-location": there,
      refresh: `0; url=${there}`,
      link: `<${there}>; rel=preload`,
      "alt-svc": `h2="127.0.0.1:${exchange.received.connection.localPort ?? 0}"`,
      connection: "close",
    };
    scripts.status(status, { headers })(exchange);
  };
}
