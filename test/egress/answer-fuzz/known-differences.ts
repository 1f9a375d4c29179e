import type { Difference } from "./difference.ts";
import { nodeReading } from "./node-reading.ts";
import type { Parts } from "./parts.ts";

const KIB = 1024;
const OK = "HTTP/1.1 200 OK\r\n";
const OLD_OK = "HTTP/1.0 200 OK\r\n";
const NO_BODY = "Content-Length: 0\r\n\r\n";
const CHUNKED = `${OK}Transfer-Encoding: chunked\r\n\r\n`;

const OF_THE_STATUS: Difference[] = [
  {
    what: "an empty line before a status line",
    we: ["refuse"],
    why: "Only servers need to skip empty lines (RFC 9112, 2.2).",
    example: `\r\n${OK}${NO_BODY}`,
    isIn: oneHeadHas(/^[\r\n]/),
  },
  {
    what: "another version or protocol",
    we: ["refuse"],
    why: "We speak HTTP/1.0 and HTTP/1.1. The framing of others may differ.",
    example: `HTTP/2.0 200 OK\r\n${NO_BODY}`,
    isIn: oneHeadHas(/^(HTTP\/(0\.9|2\.0)|RTSP\/|ICE\/)/),
  },
  {
    what: "a status below 100",
    we: ["refuse"],
    why: "There is no such status (RFC 9110, 15).",
    example: `HTTP/1.1 099 OK\r\n${NO_BODY}`,
    isIn: oneHeadHas(/^HTTP\/1\.. 0/),
  },
  {
    what: "a control character in the reason phrase",
    we: ["refuse"],
    why: "The grammar forbids it (RFC 9112, 4).",
    example: `HTTP/1.1 200 O\0K\r\n${NO_BODY}`,
    isIn: oneHeadHas(/^HTTP\/1\.. \d\d\d [^\r]*[^\t\r\x20-\x7e\x80-\xff]/),
  },
  {
    what: "heads of more than 16 KiB",
    we: ["refuse"],
    why: "Our limit covers all heads of an answer. Node's covers the names and values of each.",
    example: `${OK}X: ${"x".repeat(16 * KIB - 40)}\r\n${NO_BODY}`,
    isIn: ({ heads }) => heads.join("\r\n").length + 2 > 16 * KIB,
  },
  {
    what: "a folded line",
    we: ["accept"],
    why: "A client must read it as one line (RFC 9112, 5.2). The status counts.",
    example: `${OK}X: a\r\n b\r\n${NO_BODY}`,
    isIn: oneHeadHas(/\r\n[\t ]/),
  },
  {
    what: "the same length twice",
    we: ["accept"],
    why: "A client may read it as one (RFC 9110, 8.6). The status counts.",
    example: `${OK}Content-Length: 0\r\n${NO_BODY}`,
    isIn: oneHeadHas(
      /^Content-Length:[\t ]*(\d+)[\t ]*(,|\r\n[^]*^Content-Length:)[\t ]*\1[\t ]*[,\r]/im,
    ),
  },
  {
    what: "an empty transfer coding",
    we: ["accept", "close"],
    why: "Node.js 24 refuses it, and Node.js 20 ignores it. The status counts.",
    example: `${OK}Transfer-Encoding:\r\n${NO_BODY}`,
    isIn: oneHeadHas(/^Transfer-Encoding:(.*,)?[\t ]*(,|\r\n)/im),
  },
  {
    what: "a length beside a transfer coding",
    we: ["accept"],
    why: "The coding overrides the length (RFC 9112, 6.3). The status counts.",
    example: `${OK}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n`,
    isIn: oneHeadHas(/(?=[^]*^Content-Length:)(?=[^]*^Transfer-Encoding:)/im),
  },
  {
    what: "an interim answer that ends the connection",
    we: ["accept", "close"],
    why: "The final answer follows nevertheless, and its status counts.",
    example: `HTTP/1.1 103 Early Hints\r\nConnection: close\r\n\r\n${OK}${NO_BODY}`,
    isIn: ({ heads }) =>
      heads.slice(0, -1).some((head) => /^HTTP\/1\.0|^(Proxy-)?Connection:.*close/im.test(head)),
  },
];

const OF_THE_CONNECTION: Difference[] = [
  {
    what: "101",
    we: ["close"],
    why: "We asked for no other protocol.",
    example: "HTTP/1.1 101 Switching Protocols\r\n\r\n",
    isIn: lastHeadHas(/^HTTP\/1\.. 101/),
  },
  {
    what: "a body of more than 64 KiB",
    we: ["close"],
    why: "Our limit covers everything after the head.",
    example: `${OK}Content-Length: 65537\r\n\r\n${"a".repeat(64 * KIB + 1)}`,
    isIn: ({ body }) => body.length > 64 * KIB,
  },
  {
    what: "trailers of more than 16 KiB",
    we: ["reuse"],
    why: "Our limit covers everything after the head.",
    example: `${CHUNKED}0\r\nX: ${"x".repeat(16 * KIB)}\r\n\r\n`,
    isIn: ({ body }) => body.length > 16 * KIB && /^0[^\r]*\r\n[^]{16384}/m.test(body),
  },
  {
    what: "a transfer coding in trailers",
    we: ["close"],
    why: "Fields that frame the body are forbidden there (RFC 9110, 6.5.1).",
    example: `${CHUNKED}0\r\nTransfer-Encoding: gzip\r\n\r\n`,
    isIn: ({ body }) => /^Transfer-Encoding:/im.test(body),
  },
  {
    what: "a transfer coding in HTTP/1.0",
    we: ["close"],
    why: "Its framing cannot be trusted (RFC 9112, 6.1).",
    example: `${OLD_OK}Connection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    isIn: lastHeadHas(/^HTTP\/1\.0.*^Transfer-Encoding:/ims),
  },
  {
    what: "close and keep-alive in HTTP/1.0",
    we: ["close"],
    why: "Close overrides keep-alive (RFC 9112, 9.3).",
    example: `${OLD_OK}Connection: keep-alive, close\r\n${NO_BODY}`,
    isIn: lastHeadHas(/^HTTP\/1\.0.*Connection:.*close/is),
  },
  {
    what: "keep-alive only in Proxy-Connection, in HTTP/1.0",
    we: ["close"],
    why: "That field is not HTTP (RFC 9112, C.2.2).",
    example: `${OLD_OK}Proxy-Connection: keep-alive\r\n${NO_BODY}`,
    isIn: lastHeadHas(/^HTTP\/1\.0.*^Proxy-Connection:.*keep-alive/ims),
  },
  {
    what: "a short timeout in Keep-Alive",
    we: ["close"],
    why: "We close 2 s before the receiver (Node: 1 s), and find the timeout in any case and place.",
    example: `${OK}Keep-Alive: max=9, Timeout=2\r\n${NO_BODY}`,
    isIn: lastHeadHas(/^Keep-Alive:(.*,)?[\t ]*timeout=0*[012](\D|$)/im),
  },
  {
    what: "an unusual extension of a chunk",
    we: ["close"],
    why: "Readers differ on quotation marks and empty names.",
    example: `${CHUNKED}0;a="b"\r\n\r\n`,
    isIn: ({ body }) => /^[\da-f]+(?!(;[\w-]+(=[\w-]+)?)*\r);.*\r/im.test(body),
  },
  {
    what: "more than the answer in one piece",
    we: ["close"],
    why: "Bytes after an answer belong to no request of ours.",
    example: `${OK}${NO_BODY}\r\n`,
    isIn: hasMoreInOnePiece,
  },
];

/** The parser in Node.js 20 has faults that later ones do not have. */
const OF_OLD_NODES: Difference[] = [
  {
    what: "a tab behind a length or an option",
    we: ["accept", "close", "reuse"],
    why: "White space is no part of a value (RFC 9110, 5.5).",
    example: `${OK}Connection: close\t\r\n${NO_BODY}`,
    isIn: oneHeadHas(/^(Content-Length|(Proxy-)?Connection):.*\t *(,|\r\n)/im),
  },
  {
    what: "a status line that ends in two carriage returns",
    we: ["refuse"],
    why: "A line ends in a carriage return and a line feed (RFC 9112, 2.2).",
    example: `HTTP/1.1 200 OK\r\r${NO_BODY}`,
    isIn: ({ heads, body }) =>
      [...heads, body].some((text) => /^HTTP\/1\.. \d\d\d[^\r]*\r\r/.test(text)),
  },
];

const parser = process.versions["llhttp"] ?? "";
const isOldNode = parser.localeCompare("9.4.2", "en", { numeric: true }) < 0;

/** All answers that we intentionally read differently than Node's client, with the reasons. */
export const KNOWN_DIFFERENCES: readonly Difference[] = [
  ...OF_THE_STATUS,
  ...OF_THE_CONNECTION,
  ...(isOldNode ? OF_OLD_NODES : []),
];

function oneHeadHas(pattern: RegExp): Difference["isIn"] {
  return ({ heads }) => heads.some((head) => pattern.test(head));
}

function lastHeadHas(pattern: RegExp): Difference["isIn"] {
  return ({ head }) => pattern.test(head);
}

/** Returns true if the answer ends within a piece. */
async function hasMoreInOnePiece({ pieces }: Parts): Promise<boolean> {
  const bytes = [...Buffer.concat(pieces)].map((byte) => Buffer.of(byte));
  const [byPieces, byBytes] = await Promise.all([nodeReading(pieces), nodeReading(bytes)]);
  return byBytes.end !== null && byPieces.end !== null && byBytes.end < byPieces.end;
}
