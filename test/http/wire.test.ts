import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { createDatabase } from "../support/database.ts";
import { startPartnerApi } from "../support/partner-api.ts";
import { aCheckedApi, aListeningApi, ask, problemCheck } from "../support/problems.ts";
import { aClient, converse, rawRequest, sendRaw } from "../support/raw-http.ts";

const db = await createDatabase();

const ME = "/api/v1/partner/me";
const WEBHOOKS = "/api/v1/partner/webhooks";
const HOST = "Host: localhost";

test("invalid HTTP gets an error in the same shape as all others", async (t) => {
  const { base, check, authorization } = await aCheckedApi(t, db);
  const auth = `Authorization: ${authorization}`;

  const malformed: Record<string, string> = {
    "a line that is not a request": "hello\r\n\r\n",
    "an unknown method": rawRequest(`BREW ${ME} HTTP/1.1`, [HOST]),
    "HTTP/2": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "no Host": rawRequest(`GET ${ME} HTTP/1.1`, [auth]),
    "a NUL in a header": rawRequest(`GET ${ME} HTTP/1.1`, [HOST, "X-Bad: a\0b", auth]),
    "a header without a colon": rawRequest(`GET ${ME} HTTP/1.1`, [HOST, "nonsense"]),
    "a space before the colon": rawRequest(`GET ${ME} HTTP/1.1`, [HOST, "X-Bad : 1"]),
    "an invalid length": rawRequest(`POST ${WEBHOOKS} HTTP/1.1`, [HOST, "Content-Length: ten"]),
    "two lengths": rawRequest(
      `POST ${WEBHOOKS} HTTP/1.1`,
      [HOST, "Content-Length: 2", "Content-Length: 3"],
      "{}",
    ),
    "a length and chunks": rawRequest(
      `POST ${WEBHOOKS} HTTP/1.1`,
      [HOST, "Content-Length: 2", "Transfer-Encoding: chunked"],
      "0\r\n\r\n",
    ),
    "a request for a tunnel": rawRequest("CONNECT example.com:443 HTTP/1.1", [HOST]),
  };
  for (const [what, bytes] of Object.entries(malformed)) {
    const answer = await sendRaw(base, bytes);
    assert.equal(answer.status, 400, what);
    check(answer, "malformed_request");
  }

  const brokenBody = rawRequest(
    `POST ${WEBHOOKS} HTTP/1.1`,
    [HOST, auth, "Content-Type: application/json", "Transfer-Encoding: chunked"],
    "zz\r\n{}\r\n",
  );
  check(await sendRaw(base, brokenBody), "malformed_request");

  const url = "https://example.com/\xff";
  const notUtf8 = rawRequest(
    `POST ${WEBHOOKS} HTTP/1.1`,
    [
      HOST,
      auth,
      "Content-Type: application/json",
      `Content-Length: ${url.length + 10}`,
      "Connection: close",
    ],
    `{"url":"${url}"}`,
  );
  const [answer] = await converse(base, notUtf8);
  assert.ok(answer);
  check(answer, "malformed_request");
});

test("two Authorization headers, or two tokens in one, are refused", async (t) => {
  const { api, base, check } = await aCheckedApi(t, db);
  const { token } = await api.aKeyWith();
  const good = `Authorization: Bearer ${token}`;

  const refused = [
    [good, good],
    [good, "authorization: Bearer other"],
    ["AUTHORIZATION: other", good],
    [`Authorization: Bearer ${token}, Bearer ${token}`],
    [`Authorization: Bearer ${token} ${token}`],
  ];
  for (const headers of refused) {
    check(
      await sendRaw(base, rawRequest(`GET ${ME} HTTP/1.1`, [HOST, ...headers])),
      "unauthenticated",
    );
  }
  assert.equal((await sendRaw(base, rawRequest(`GET ${ME} HTTP/1.1`, [HOST, good]))).status, 200);
});

test("headers over 16 KiB are refused, and the client can read the error", async (t) => {
  const { base, check } = await aCheckedApi(t, db);
  for (const size of [17_000, 20_000, 200_000, 10_000_000]) {
    const bytes = rawRequest(`GET ${ME} HTTP/1.1`, [HOST, `X-Big: ${"x".repeat(size)}`]);
    check(await sendRaw(base, bytes), "headers_too_large");
  }
  const many = Array.from({ length: 3_000 }, (_, i) => `X-${i}: x`);
  check(await sendRaw(base, rawRequest(`GET ${ME} HTTP/1.1`, many)), "headers_too_large");
});

test("a body over 64 KiB is refused in any framing, and the client can read the error", async (t) => {
  const { base, check, authorization } = await aCheckedApi(t, db);
  const head = [HOST, `Authorization: ${authorization}`, "Content-Type: application/json"];

  for (const size of [65_537, 70_000, 1_000_000, 10_000_000]) {
    const body = "x".repeat(size);
    const whole = [...head, `Content-Length: ${size}`];
    check(
      await sendRaw(base, rawRequest(`POST ${WEBHOOKS} HTTP/1.1`, whole, body)),
      "payload_too_large",
    );
    const chunked = [...head, "Transfer-Encoding: chunked"];
    const chunk = `${size.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
    check(
      await sendRaw(base, rawRequest(`POST ${WEBHOOKS} HTTP/1.1`, chunked, chunk)),
      "payload_too_large",
    );
  }
});

test("the key is checked before the body is read", async (t) => {
  const { base, check } = await aCheckedApi(t, db);
  const head = [HOST, "Content-Type: application/json", "Content-Length: 50"];
  const answer = await sendRaw(base, rawRequest(`POST ${WEBHOOKS} HTTP/1.1`, head));
  check(answer, "unauthenticated");
});

test("an error has a Connection header like every other response", async (t) => {
  const base = await startPartnerApi(t, db).listen();
  const said = async (line: string, ...headers: string[]) => {
    const { status, headers: answered } = await sendRaw(
      base,
      rawRequest(line, ["Host: localhost", ...headers]),
    );
    return [status, answered["connection"]];
  };
  const NONE = "GET /none HTTP/1.1";
  assert.deepEqual(await said(NONE), [404, "keep-alive"]);
  assert.deepEqual(await said(NONE, "Connection: close"), [404, "close"]);
  const old = NONE.replace("1.1", "1.0");
  assert.deepEqual(await said(old, "Connection: keep-alive"), [404, "keep-alive"]);
  const typed = ["Content-Type: text/html", "Content-Length: 0"];
  const { authorization } = await startPartnerApi(t, db).aKeyWith("webhooks:manage");
  const post = "POST /api/v1/partner/webhooks HTTP/1.1";
  const authorized = [...typed, `Authorization: ${authorization}`];
  assert.deepEqual(await said(post, ...authorized), [415, "keep-alive"]);
  assert.deepEqual(await said(post, ...authorized, "Connection: close"), [415, "close"]);
});

test("a body that does not arrive in time is refused", async (t) => {
  const api = startPartnerApi(t, db, { options: { timeouts: { headers: 50, request: 100 } } });
  const base = await api.listen();
  const { authorization } = await api.aKeyWith("webhooks:manage");
  const check = await problemCheck(api);
  const head = [
    HOST,
    `Authorization: ${authorization}`,
    "Content-Type: application/json",
    "Content-Length: 50",
  ];
  const answer = await sendRaw(base, rawRequest(`POST ${WEBHOOKS} HTTP/1.1`, head, "{"));
  check(answer, "request_timeout");
});

test("a client that aborts its body causes no error", async (t) => {
  const { base, authorization } = await aListeningApi(t, db);
  const gone = new AbortController();
  const body = new ReadableStream({
    start: (controller) => {
      controller.enqueue(new TextEncoder().encode("{"));
    },
  });
  const request = fetch(base + WEBHOOKS, {
    method: "POST",
    headers: { authorization, "content-type": "application/json" },
    body,
    duplex: "half",
    signal: gone.signal,
  });
  gone.abort();
  await assert.rejects(request);
  assert.equal((await ask(`${base}${ME}`, { headers: { authorization } })).status, 200);
});

test("an upgrade to another protocol is ignored", async (t) => {
  const { api, base } = await aListeningApi(t, db);
  const head = [HOST, "Connection: Upgrade", "Upgrade: websocket"];
  const answer = await sendRaw(base, rawRequest(`GET ${ME} HTTP/1.1`, head));
  (await problemCheck(api))(answer, "unauthenticated");
});

test("an unknown Expect header is ignored", async (t) => {
  const { base, authorization } = await aListeningApi(t, db);
  const head = [HOST, "Expect: a-miracle", `Authorization: ${authorization}`];
  assert.equal((await sendRaw(base, rawRequest(`GET ${ME} HTTP/1.1`, head))).status, 200);
});

test("every response has a request id, which is the client's own if it is safe", async (t) => {
  const api = startPartnerApi(t, db);
  const own = ["a", "A-b_9", "x".repeat(64)];
  const refused = ["", "x".repeat(65), "a b", "a.b", "ä", "a\tb", "<script>", "a, b"];
  for (const url of [ME, "/healthz", "/nowhere", "/%zz"]) {
    const idFor = async (given: string) => {
      const response = await api.inject({ url, headers: { "x-request-id": given } });
      assert.equal(response.headers["x-content-type-options"], "nosniff");
      assert.equal(response.headers["cache-control"], "no-store");
      return String(response.headers["x-request-id"]);
    };
    for (const id of own) assert.equal(await idFor(id), id);
    for (const id of refused) assert.match(await idFor(id), /^[0-9a-f-]{36}$/);
  }
});

test("a trailing slash is tolerated", async (t) => {
  const api = startPartnerApi(t, db);
  const key = await api.aKeyWith("webhooks:manage");
  const { id } = await api.aSubscriptionOf(key);
  const headers = { authorization: key.authorization };
  for (const url of [`${ME}/`, `${WEBHOOKS}/`, `${WEBHOOKS}/${id}/failures/?limit=1`]) {
    assert.equal((await api.inject({ url, headers })).statusCode, 200, url);
  }
  const deleted = await api.inject({ method: "DELETE", url: `${WEBHOOKS}/${id}/`, headers });
  assert.equal(deleted.statusCode, 204);
});

test("arrived requests are answered during a stop, and no connection delays it", async (t) => {
  const { api, base, authorization } = await aListeningApi(t, db);
  await once(aClient(t, base), "connect");
  const idle = await ask(`${base}/healthz`); // Its connection is kept alive.
  assert.equal(idle.status, 200);

  const arrived = once(api.app.server, "request");
  const answer = ask(`${base}${ME}`, { headers: { authorization } });
  await arrived;
  const closed = api.app.close();
  const { status, headers } = await answer;
  assert.deepEqual([status, headers["connection"]], [200, "close"]);
  await closed;
  await assert.rejects(ask(`${base}/healthz`));
});
