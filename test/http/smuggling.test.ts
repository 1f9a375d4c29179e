import assert from "node:assert/strict";
import { test } from "node:test";
import { column } from "../support/columns.ts";
import { createDatabase } from "../support/database.ts";
import { aCheckedApi, aListeningApi } from "../support/problems.ts";
import { converse, rawRequest } from "../support/raw-http.ts";

const db = await createDatabase();

const HOST = "Host: localhost";
const JSON_TYPE = "Content-Type: application/json";
const CHUNKED = "Transfer-Encoding: chunked";
/** A request that an attacker hides in another one. */
const SMUGGLED = rawRequest("GET /healthz HTTP/1.1", [HOST, "Connection: close"]);
const TWO_BYTES = "2\r\n{}\r\n0\r\n\r\n";

interface Attack {
  line?: string;
  headers?: string[];
  body?: string;
}

const post = "POST /api/v1/partner/webhooks HTTP/1.1";
const me = "GET /api/v1/partner/me HTTP/1.1";

/** Requests in which two programs may see a different end or a different target. */
const AMBIGUOUS: Record<string, Attack> = {
  "a length and chunks": { headers: ["Content-Length: 5", CHUNKED], body: "0\r\n\r\n" },
  "chunks and a length": { headers: [CHUNKED, "Content-Length: 5"], body: "0\r\n\r\n" },
  "two lengths": { headers: ["Content-Length: 2", "Content-Length: 40"], body: "{}" },
  "the same length twice": { headers: ["Content-Length: 2", "Content-Length: 2"], body: "{}" },
  "a list of lengths": { headers: ["Content-Length: 2, 2"], body: "{}" },
  "a length with a sign": { headers: ["Content-Length: +2"], body: "{}" },
  "a negative length": { headers: ["Content-Length: -2"], body: "{}" },
  "a length in hex": { headers: ["Content-Length: 0x2"], body: "{}" },
  "a length of two words": { headers: ["Content-Length: 2 2"], body: "{}" },
  "no length": { headers: ["Content-Length: "], body: "{}" },
  "a length beyond 64 bits": { headers: ["Content-Length: 18446744073709551618"], body: "{}" },
  "an unknown coding": { headers: ["Transfer-Encoding: xchunked"], body: TWO_BYTES },
  "a coding before chunks": { headers: ["Transfer-Encoding: gzip, chunked"], body: TWO_BYTES },
  "a coding behind chunks": { headers: ["Transfer-Encoding: chunked, identity"], body: TWO_BYTES },
  "chunks twice": { headers: [CHUNKED, CHUNKED], body: TWO_BYTES },
  "no coding at all": { headers: ["Transfer-Encoding: identity"], body: TWO_BYTES },
  "a coding in quotes": { headers: ['Transfer-Encoding: "chunked"'], body: TWO_BYTES },
  "a coding behind a control": { headers: ["Transfer-Encoding: \x0bchunked"], body: TWO_BYTES },
  "a space before the colon": { headers: ["Transfer-Encoding : chunked"], body: TWO_BYTES },
  "chunks in HTTP/1.0": {
    line: post.replace("1.1", "1.0"),
    headers: [CHUNKED, "Connection: keep-alive"],
    body: TWO_BYTES,
  },
  "a chunk's size with a bare LF": { headers: [CHUNKED], body: "2\n{}\n0\n\n" },
  "a chunk's size and a space": { headers: [CHUNKED], body: "2 \r\n{}\r\n0\r\n\r\n" },
  "a chunk's size with 0x": { headers: [CHUNKED], body: "0x2\r\n{}\r\n0\r\n\r\n" },
  "a negative chunk": { headers: [CHUNKED], body: "-2\r\n{}\r\n0\r\n\r\n" },
  "a chunk beyond 64 bits": { headers: [CHUNKED], body: "10000000000000002\r\n{}\r\n0\r\n\r\n" },
  "a chunk without its end": { headers: [CHUNKED], body: "2\r\n{}XX0\r\n\r\n" },
  "a chunk extension with a bare LF": { headers: [CHUNKED], body: "2;\n{}\r\n0\r\n\r\n" },
  "a line end in an extension": { headers: [CHUNKED], body: '2;a="\r\n"\r\n{}\r\n0\r\n\r\n' },
  "a length behind the chunks": {
    headers: [CHUNKED],
    body: "2\r\n{}\r\n0\r\nContent-Length: 60\r\n\r\n",
  },
  "a folded header": { headers: ["X-Folded: a\r\n b"] },
  "a folded coding": { headers: ["Transfer-Encoding:\r\n chunked"], body: TWO_BYTES },
  "a line with a bare LF": { line: me, headers: ["X-A: b\nX-C: d"] },
  "a line with a bare CR": { line: me, headers: ["X-A: b\rX-C: d"] },
  "a header without a name": { line: me, headers: [": y"] },
  "a space before the first header": { line: me, headers: [" X: y"] },
  "two hosts": { line: me, headers: ["Host: elsewhere"] },
  "an invalid host": { line: me, headers: ["HOST: a b"] },
  "HTTP/0.9": { line: "GET /healthz" },
  "HTTP/2.0": { line: "GET /healthz HTTP/2.0" },
  "another version": { line: "GET /healthz HTTP/1.2" },
  "a path with a NUL": { line: "GET /health\0z HTTP/1.1" },
  "a path with bytes beyond ASCII": { line: "GET /h\xe9althz HTTP/1.1" },
  "a tab for a space": { line: "GET\t/healthz\tHTTP/1.1" },
};

test("a request with an ambiguous end or target is refused, and its connection ends", async (t) => {
  const { base, check, authorization } = await aCheckedApi(t, db);

  for (const [what, { line = post, headers = [], body = "" }] of Object.entries(AMBIGUOUS)) {
    const hosts = what === "an invalid host" ? [] : [HOST];
    const head = [...hosts, ...headers, `Authorization: ${authorization}`, JSON_TYPE];
    const answers = await converse(base, rawRequest(line, head, body) + SMUGGLED);
    const [answer, ...more] = answers;
    assert.deepEqual(more, [], what);
    assert.ok(answer);
    check(answer, "malformed_request");
    assert.equal(answer.headers["connection"], "close", what);
  }
});

const INNER = `Content-Length: ${SMUGGLED.length}`;
const IN_A_CHUNK = `${SMUGGLED.length.toString(16)}\r\n${SMUGGLED}\r\n0\r\n\r\n`;

/** Bodies that look like requests, sent to routes that do not read a body. */
const UNREAD: Record<string, Attack & { status: number; unauthorized?: true }> = {
  "with GET": { line: me, headers: [INNER], body: SMUGGLED, status: 200 },
  "in chunks, with GET": { line: me, headers: [CHUNKED], body: IN_A_CHUNK, status: 200 },
  "with DELETE": {
    line: "DELETE /api/v1/partner/webhooks/x HTTP/1.1",
    headers: [INNER],
    body: SMUGGLED,
    status: 404,
  },
  "to an unknown path": { line: "POST /x HTTP/1.1", headers: [INNER], body: SMUGGLED, status: 404 },
  "with an unknown method": {
    line: "PUT /api/v1/partner/me HTTP/1.1",
    headers: [CHUNKED],
    body: IN_A_CHUNK,
    status: 405,
  },
  "without a key": { headers: [INNER], body: SMUGGLED, status: 401, unauthorized: true },
  "as an extension says": { headers: [CHUNKED], body: `2;a=b\r\n{}\r\n0\r\n\r\n`, status: 422 },
};

test("an unexpected body is never read as the next request", async (t) => {
  const { base, authorization } = await aListeningApi(t, db);
  const last = rawRequest("GET /nowhere HTTP/1.1", [HOST, "Connection: close"]);

  for (const [what, attack] of Object.entries(UNREAD)) {
    const { line = post, headers = [], body, status, unauthorized } = attack;
    const key = unauthorized ? [] : [`Authorization: ${authorization}`];
    const bytes = rawRequest(line, [HOST, ...key, ...headers, JSON_TYPE], body);
    const answers = await converse(base, bytes + last);
    assert.deepEqual(column(answers, "status"), [status, 404], what);
  }
});

test("an upgrade request is served as a normal request and closes its connection", async (t) => {
  const { base, authorization } = await aListeningApi(t, db);
  const upgrade = [HOST, `Authorization: ${authorization}`, "Connection: upgrade", "Upgrade: h2c"];
  for (const extra of [[], [INNER]]) {
    const bytes = rawRequest(me, [...upgrade, ...extra], SMUGGLED);
    const answers = await converse(base, bytes);
    assert.deepEqual(
      answers.map(({ status, headers }) => [status, headers["connection"]]),
      [[200, "close"]],
    );
  }
});

test("too many headers are refused, and none is dropped silently", async (t) => {
  const { base, check, authorization } = await aCheckedApi(t, db);
  const key = `Authorization: ${authorization}`;
  const fill = (count: number) => Array.from({ length: count }, () => "a:");

  const refused: string[][] = [
    [HOST, key, ...fill(2_500)],
    [HOST, key, ...fill(2_500), key],
    [HOST, ...fill(100_000), key],
    [HOST, ...Array.from({ length: 100_000 }, (_, i) => `X-${i}: ${i}`), key],
  ];
  for (const headers of refused) {
    const [answer, ...more] = await converse(base, rawRequest(me, headers));
    assert.ok(answer && more.length === 0);
    check(answer, "headers_too_large");
  }

  const close = "Connection: close";
  const many = await converse(base, rawRequest(me, [HOST, close, ...fill(900), key]));
  assert.deepEqual(column(many, "status"), [200]);
  const trailers = `2\r\n{}\r\n0\r\n${"X: y\r\n".repeat(20_000)}\r\n`;
  const [endless] = await converse(base, rawRequest(post, [HOST, key, CHUNKED], trailers));
  assert.ok(endless);
  check(endless, "headers_too_large");
});

test("a URL may be as long as a head", async (t) => {
  const { base } = await aListeningApi(t, db);
  const statusOf = async (url: string) => {
    const [answer] = await converse(
      base,
      rawRequest(`GET ${url} HTTP/1.1`, [HOST, "Connection: close"]),
    );
    return answer?.status;
  };
  assert.equal(await statusOf(`/healthz?${"a=b&".repeat(3_500)}`), 200);
  assert.equal(await statusOf(`/healthz?${"a=b&".repeat(5_000)}`), 431);
  assert.equal(await statusOf(`/${"../".repeat(1_000)}healthz`), 404);
  assert.equal(await statusOf(`/${"a/".repeat(8_000)}`), 404);
  assert.equal(await statusOf(`/${"%2e%2e%2f".repeat(1_000)}`), 404);
  assert.equal(await statusOf(`/${"x".repeat(10_000_000)}`), 431);
});
