import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { PROBLEMS } from "../../src/http/problem.ts";
import type { ErrorCode } from "../../src/lib/errors.ts";
import { aGate } from "../support/database-gate.ts";
import { createDatabase, ownerOf } from "../support/database.ts";
import { EVENTS, startPartnerApi } from "../support/partner-api.ts";
import { type Answer, ask, problemCheck } from "../support/problems.ts";
import { rawRequest, sendRaw } from "../support/raw-http.ts";
import { untilBlocked } from "../support/until-blocked.ts";

const db = await createDatabase();

const URL_PATH = "/api/v1/partner/webhooks";
const NEW = { url: "https://hooks.example.com/", events: EVENTS };
const OPERATORS_OWN: ErrorCode[] = [
  "insufficient_role",
  "cross_site",
  "misdirected_request",
  "slug_taken",
  "subscription_held",
  "not_redeliverable",
  "not_waiting",
  "redelivery_finished",
  "redelivery_limit",
  "reserved_scope",
  "unknown_scope",
];

test("every error for partners has its status, its code and the same shape", async (t) => {
  const api = startPartnerApi(t, db);
  const gate = await aGate(t, db);
  const behindGate = startPartnerApi(t, gate.db);
  const impatient = startPartnerApi(t, db, { options: { timeouts: { headers: 50 } } });
  const [base, gated, hasty] = await Promise.all(
    [api, behindGate, impatient].map(({ listen }) => listen()),
  );
  assert.ok(base && gated && hasty);

  const key = await api.aKeyWith("webhooks:manage");
  const { authorization } = key;
  const headers = { authorization };
  const subscription = await api.aSubscriptionOf(key);
  const disabled = await api.aSubscriptionOf(key);
  await db`update subscriptions set auto_disabled_at = ${api.clock()}
            where id = ${disabled.id.slice(3)}`;
  const check = await problemCheck(api);

  const me = `${base}/api/v1/partner/me`;
  const webhooks = base + URL_PATH;
  const post = (body: string | object, more = {}) =>
    ask(webhooks, { method: "POST", headers: { ...headers, ...more }, body });
  const ping = ({ id }: { id: string }, secret: string) =>
    ask(`${webhooks}/${id}/test`, { method: "POST", headers, body: { secret } });

  const cases: [ErrorCode, () => Promise<Answer>][] = [
    ["malformed_request", () => post("{")],
    ["malformed_request", () => sendRaw(base, "this is not HTTP\r\n\r\n")],
    ["unauthenticated", () => ask(me)],
    [
      "insufficient_scope",
      async () => {
        const weak = await api.aKeyWith();
        return ask(webhooks, { headers: { authorization: weak.authorization } });
      },
    ],
    ["secret_mismatch", () => ping(subscription, "whsec_wrong")],
    ["not_found", () => ask(`${base}/nowhere`)],
    ["not_found", () => ask(`${webhooks}/wh_${randomUUID()}`, { method: "DELETE", headers })],
    ["method_not_allowed", () => ask(me, { method: "PUT" })],
    ["request_timeout", () => sendRaw(hasty, "GET /api/v1/partner/me HTTP/1.1\r\nHost: slow")],
    ["subscription_inactive", () => ping(disabled, disabled.secret)],
    [
      "subscription_limit",
      async () => {
        const full = await api.aKeyWith("webhooks:manage");
        await Promise.all(Array.from({ length: 100 }, () => api.aSubscriptionOf(full)));
        const { authorization } = full;
        return ask(webhooks, { method: "POST", headers: { authorization }, body: NEW });
      },
    ],
    [
      "idempotency_key_reused",
      async () => {
        await post(NEW, { "idempotency-key": "once" });
        return post({ ...NEW, url: "https://127.0.0.1/other" }, { "idempotency-key": "once" });
      },
    ],
    [
      "request_in_progress",
      async () => {
        const keyed = () => post(NEW, { "idempotency-key": "slow" });
        const { first, second } = await ownerOf(db).begin(async (tx) => {
          await tx`lock table subscriptions in share mode`;
          const first = keyed();
          await untilBlocked(db);
          return { first, second: await keyed() };
        });
        await first;
        return second;
      },
    ],
    ["payload_too_large", () => post({ ...NEW, padding: "x".repeat(70_000) })],
    ["unsupported_media_type", () => post("url=x", { "content-type": "text/plain" })],
    ["invalid_request", () => post({ url: 1 })],
    ["url_rejected", () => post({ ...NEW, url: "https://localhost/" })],
    [
      "rate_limited",
      async () => {
        const organization = await api.anOrganization({ rateLimitPerMinute: 1 });
        const { authorization } = await api.aKeyOf(organization);
        await ask(me, { headers: { authorization } });
        return ask(me, { headers: { authorization } });
      },
    ],
    [
      "headers_too_large",
      () => sendRaw(base, rawRequest("GET / HTTP/1.1", [`X-Big: ${"x".repeat(20_000)}`])),
    ],
    [
      "internal",
      async () => {
        await ownerOf(db)`alter table attempts rename to attempts_elsewhere`;
        const answer = await ask(`${webhooks}/${subscription.id}/failures`, { headers });
        await ownerOf(db)`alter table attempts_elsewhere rename to attempts`;
        return answer;
      },
    ],
    [
      "unavailable",
      async () => {
        await gate.close();
        return ask(`${gated}/api/v1/partner/me`, { headers });
      },
    ],
  ];

  for (const [code, fetchIt] of cases) {
    await t.test(`${PROBLEMS[code].status} ${code}`, async () => {
      const answer = await fetchIt();
      const problem = check(answer, code);
      assert.equal("errors" in problem, ["invalid_request", "url_rejected"].includes(code));
      if (code === "internal") assert.doesNotMatch(answer.body, /attempts|relation|select/i);
      if (code === "unauthenticated") assert.equal(answer.headers["www-authenticate"], "Bearer");
      const isTemporary = code === "rate_limited" || code === "unavailable";
      assert.equal(/^[1-9][0-9]*$/.test(answer.headers["retry-after"] ?? ""), isTemporary);
    });
  }

  const covered = new Set([...cases.map(([code]) => code), ...OPERATORS_OWN]);
  assert.deepEqual([...covered].sort(), Object.keys(PROBLEMS).sort(), "no code is left out");
});

test("an unsupported method, even HEAD, is refused with the allowed ones", async (t) => {
  const api = startPartnerApi(t, db);
  const allowed: [path: string, methods: string][] = [
    ["/api/v1/partner/me", "GET"],
    ["/api/v1/partner/me/", "GET"],
    ["/api/v1/partner/webhooks?x=1", "GET, POST"],
    [`/api/v1/partner/webhooks/wh_${randomUUID()}`, "DELETE"],
    ["/api/v1/partner/webhooks/nonsense/test", "POST"],
    ["/api/v1/partner/webhooks/nonsense/failures", "GET"],
    ["/api/v1/partner/openapi.json", "GET"],
    ["/healthz", "GET"],
    ["/readyz", "GET"],
  ];
  for (const [url, methods] of allowed) {
    for (const method of ["HEAD", "OPTIONS", "PUT", "PATCH", "TRACE"] as const) {
      const response = await api.app.inject({ method: method as "HEAD", url });
      assert.equal(response.statusCode, 405, `${method} ${url}`);
      assert.equal(response.headers.allow, methods);
    }
  }
});

test("path and method are checked before anything else", async (t) => {
  const api = startPartnerApi(t, db);
  const headers = { "content-type": "text/plain" };
  const payload = "x".repeat(70_000);
  const nowhere = await api.inject({ method: "POST", url: "/nowhere", headers, payload });
  assert.equal(nowhere.statusCode, 404);
  const me = await api.inject({ method: "POST", url: "/api/v1/partner/me", headers, payload });
  assert.equal(me.statusCode, 405);
});

test("without the database every response is 503, and afterwards everything works again", async (t) => {
  const gate = await aGate(t, db);
  const api = startPartnerApi(t, gate.db);
  const { authorization } = await api.aKeyWith();
  const me = () => api.inject({ url: "/api/v1/partner/me", headers: { authorization } });
  assert.equal((await me()).statusCode, 200);

  await gate.close();
  assert.equal((await me()).statusCode, 503);
  assert.equal((await api.inject({ url: "/healthz" })).statusCode, 200);

  await gate.open();
  let back = await me();
  for (; back.statusCode === 503; back = await me()) await delay(10); // It reconnects by itself.
  assert.equal(back.statusCode, 200);
});

test("a silent database does not block requests", async (t) => {
  const gate = await aGate(t, db);
  const api = startPartnerApi(t, gate.db, { options: { timeouts: { answer: 100 } } });
  const key = await api.aKeyWith("webhooks:manage");
  const headers = { authorization: key.authorization };
  gate.freeze();

  const answers = await Promise.all([
    api.inject({ url: "/api/v1/partner/me", headers }),
    api.inject({ method: "POST", url: URL_PATH, headers, payload: NEW }),
  ]);
  assert.deepEqual(
    answers.map(({ statusCode, headers }) => [statusCode, headers["retry-after"]]),
    [
      [503, "1"],
      [503, "1"],
    ],
  );
});
