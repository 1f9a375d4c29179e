import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { test } from "node:test";
import { pino } from "pino";
import { Busy } from "../../src/lib/errors.ts";
import { publicId } from "../../src/lib/ids.ts";
import { column, columns } from "../support/columns.ts";
import { createDatabase } from "../support/database.ts";
import { startOperatorApi } from "../support/operator-api.ts";
import { startPartnerApi } from "../support/partner-api.ts";
import { rawRequest, sendRaw } from "../support/raw-http.ts";

const db = await createDatabase();

/** A logger that keeps its lines. */
function aLog() {
  const lines: string[] = [];
  const logger = pino({ level: "debug", base: null }, { write: (line) => lines.push(line) });
  const parsed = () => lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  return { logger, lines, parsed };
}

test("each request is one line with route, key and status", async (t) => {
  const { logger, parsed } = aLog();
  const api = startPartnerApi(t, db, { options: { logger } });
  const key = await api.aKeyWith("webhooks:manage");
  const { id } = await api.aSubscriptionOf(key);
  const headers = { authorization: key.authorization, "x-request-id": "my-id" };
  await api.inject({ url: `/api/v1/partner/webhooks/${id}/failures?limit=7`, headers });
  await api.inject({ url: "/api/v1/partner/me" });
  await api.inject({ url: "/somewhere?x=1" });

  const lines = parsed().map(({ msg, method, route, status, request_id, key_id }) => ({
    told: [msg, method, route, status],
    request_id,
    key_id,
  }));
  assert.deepEqual(lines[0], {
    told: ["request", "GET", "/api/v1/partner/webhooks/:id/failures", 200],
    request_id: "my-id",
    key_id: key.keyId,
  });
  assert.deepEqual(
    lines.slice(1).map(({ told, key_id }) => [...told, key_id]),
    [
      ["request", "GET", "/api/v1/partner/me", 401, undefined],
      ["request", "GET", null, 404, undefined],
    ],
  );
  for (const { ms, level } of parsed()) assert.deepEqual([typeof ms, level], ["number", 30]);
});

test("the line of a publishing request has the event's id, and at debug each event has a line", async (t) => {
  const { logger, parsed } = aLog();
  const api = startPartnerApi(t, db, { options: { logger } });
  const key = await api.aKeyWith("webhooks:manage");
  const { id, secret } = await api.aSubscriptionOf(key);
  const answer = await api.inject({
    method: "POST",
    url: `/api/v1/partner/webhooks/${id}/test`,
    headers: { authorization: key.authorization, "x-request-id": "leads-on" },
    payload: { secret },
  });
  const { event_id: published } = answer.json<{ event_id: string }>();
  const lines = parsed().map(({ msg, level, request_id, event_id, organization_id }) => ({
    line: [msg, level, request_id, event_id],
    organization_id,
  }));
  assert.deepEqual(column(lines, "line"), [
    ["event published", 20, "leads-on", published],
    ["request", 30, "leads-on", published],
  ]);
  assert.equal(lines[1]?.organization_id, publicId("org", key.organizationId));
});

test("health probes are logged at debug", async (t) => {
  const { logger, parsed } = aLog();
  const api = startPartnerApi(t, db, { options: { logger } });
  for (const url of ["/healthz", "/readyz"]) await api.inject({ url });
  const operators = startOperatorApi(t, api.deps, { logger });
  for (const url of ["/healthz", "/readyz", "/metrics"]) await operators.ask({ url });
  assert.deepEqual(column(parsed(), "level"), [20, 20, 20, 20, 20]);
  await operators.ask({ url: "organizations" });
  assert.deepEqual([parsed().at(-1)?.["level"], parsed().at(-1)?.["operator"]], [30, "alice"]);
});

test("a request whose client disconnected is one line without a status", async (t) => {
  const { logger, parsed } = aLog();
  let isAsked = () => undefined as unknown;
  const asked = new Promise<void>((resolve) => (isAsked = resolve));
  const api = startPartnerApi(t, db, {
    options: { logger },
    checkDestination: async () => {
      isAsked();
      await gone;
      throw new Busy();
    },
  });
  const base = await api.listen();
  const { authorization } = await api.aKeyWith("webhooks:manage");
  const leaving = new AbortController();
  const gone = new Promise<void>((resolve) => {
    api.app.server.once("connection", (socket: Socket) => socket.once("close", resolve));
  });
  const request = fetch(`${base}/api/v1/partner/webhooks`, {
    method: "POST",
    headers: { authorization, "content-type": "application/json", "x-request-id": "left" },
    body: JSON.stringify({ url: "https://hooks.example.com/", events: ["vc.test.ping"] }),
    signal: leaving.signal,
  });
  await asked;
  leaving.abort();
  await assert.rejects(request);
  await gone;
  const lines = parsed().filter(({ msg }) => msg === "request");
  assert.deepEqual(columns(lines, "method", "status", "request_id"), [["POST", null, "left"]]);
});

test("the log contains no token, secret or body", async (t) => {
  const { logger, lines } = aLog();
  const api = startPartnerApi(t, db, { options: { logger } });
  const base = await api.listen();
  const key = await api.aKeyWith("webhooks:manage");
  const { id, secret } = await api.aSubscriptionOf(key);
  const tokenSecret = key.token.slice(key.token.indexOf(".") + 1);
  const send = (line: string, body = "") =>
    sendRaw(
      base,
      rawRequest(
        line,
        [
          "Host: localhost",
          `Authorization: ${key.authorization}`,
          "Content-Type: application/json",
          `Content-Length: ${body.length}`,
        ],
        body,
      ),
    );
  const webhooks = "/api/v1/partner/webhooks";
  await send(
    `POST ${webhooks} HTTP/1.1`,
    '{"url":"https://PRIVATE.example.com/","events":["vc.test.ping"]}',
  );
  await send(`POST ${webhooks} HTTP/1.1`, '{"url":"PRIVATE"}');
  await send(`POST ${webhooks} HTTP/1.1`, '{"PRIVATE');
  await send(`POST ${webhooks}/${id}/test HTTP/1.1`, JSON.stringify({ secret }));
  await send(`GET /${key.token}?token=${key.token} HTTP/1.1`);
  await send(`GET ${webhooks}/%zz${key.token} HTTP/1.1`);
  await send(`nonsense ${key.token}`);

  assert.ok(lines.length >= 5);
  const text = lines.join("");
  for (const word of [tokenSecret, secret, "PRIVATE", "uthorization"]) {
    assert.ok(!text.includes(word), word);
  }
});

test("an internal error is logged in full, and the response is general", async (t) => {
  const { logger, parsed } = aLog();
  const api = startPartnerApi(t, db, {
    options: { logger },
    checkDestination: () => Promise.reject(new Error("a detail of ours")),
  });
  const { authorization } = await api.aKeyWith("webhooks:manage");
  const response = await api.inject({
    method: "POST",
    url: "/api/v1/partner/webhooks",
    headers: { authorization, "x-request-id": "broken" },
    payload: { url: "https://hooks.example.com/", events: ["vc.test.ping"] },
  });
  assert.equal(response.statusCode, 500);
  assert.ok(!response.body.includes("a detail of ours"));

  const error = parsed().find(({ level }) => level === 50);
  assert.equal(error?.["request_id"], "broken");
  assert.deepEqual([error["method"], error["route"]], ["POST", "/api/v1/partner/webhooks"]);
  assert.match(JSON.stringify(error["err"]), /a detail of ours.*request-log\.test/);
});
