import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, test } from "node:test";
import type { Database } from "../../../src/postgres/database.ts";
import { encodeSession } from "../../../src/subjects/operators/rules.ts";
import { forgetEndedSessions } from "../../../src/subjects/operators/sessions.ts";
import { createDatabase } from "../../support/database.ts";
import { createEngine } from "../../support/engine.ts";
import {
  type Answer,
  OPERATORS,
  PUBLISHER,
  READER,
  type Request,
  startOperatorApi,
} from "../../support/operator-api.ts";

const HOUR_MS = 3_600_000;
const { deps, clock } = await createEngine(await createDatabase());
const [alice] = OPERATORS;
assert.ok(alice);

type Headers = Record<string, string>;

const api = startOperatorApi({ after }, deps);
const BY_CONSOLE = { "x-requested-with": "console" };

const signIn = (token: string, { ask } = api, headers: Headers = {}) =>
  ask({ method: "POST", url: "session", authorization: null, body: { token }, headers });

const cookieOf = ({ headers }: Answer) => String(headers["set-cookie"]).split(";")[0] ?? "";

const as = (cookie: string, request: Request): Request => ({
  ...request,
  authorization: null,
  headers: { cookie, ...request.headers },
});

/** Signs in. Requests of the session carry its cookie. */
const aSession = async (token = alice.token) => {
  const cookie = cookieOf(await signIn(token));
  return { cookie, ask: (request: Request) => api.ask(as(cookie, request)) };
};

const codeOf = ({ body }: Answer) => (body as { code: string }).code;

test("a token is exchanged for a cookie that no script reads and no other site sends", async () => {
  const answer = await signIn(alice.token);
  assert.equal(answer.status, 204);
  assert.equal(answer.text, "");
  const [cookie = "", ...attributes] = String(answer.headers["set-cookie"]).split("; ");
  assert.match(cookie, /^partner_api_session=[\w.-]+$/);
  assert.deepEqual(attributes, ["Max-Age=43200", "Path=/", "HttpOnly", "SameSite=Strict"]);
  assert.equal(cookie.includes(alice.token), false);
});

test("behind https the cookie is Secure", async () => {
  for (const [said, isSecure] of [
    ["https", true],
    ["https, http", true],
    ["http", false],
    ["http, https", false],
  ] as const) {
    const { headers } = await signIn(alice.token, api, { "x-forwarded-proto": said });
    assert.equal(String(headers["set-cookie"]).endsWith("; Secure"), isSecure, said);
  }
});

test("a session shows its name, role and end, and a token has no end", async () => {
  const session = await aSession(READER.token);
  const expires_at = new Date(clock().getTime() + 12 * HOUR_MS).toISOString();
  const shown = await session.ask({ url: "session" });
  assert.deepEqual(shown.body, {
    ...{ name: "rita", role: "read", expires_at },
    auto_disable_after: 20,
    concurrency: { initial: 16, max: 16 },
  });
  assert.equal(shown.headers["x-operator-role"], "read");
  assert.deepEqual((await api.ask({ url: "session" })).body, {
    name: "alice",
    role: "operate",
    expires_at: null,
    auto_disable_after: 20,
    concurrency: { initial: 16, max: 16 },
  });
});

test("only processes with the same tokens accept the session", async (t) => {
  const get = as((await aSession()).cookie, { url: "organizations" });
  assert.equal((await startOperatorApi(t, deps).ask(get)).status, 200);
  const others = startOperatorApi(t, deps, { tokens: OPERATORS.slice(1) });
  assert.equal((await others.ask(get)).status, 401);
});

test("a session ends after twelve hours, to the millisecond", async () => {
  const { ask } = await aSession();
  clock.advance(12 * HOUR_MS - 1);
  assert.equal((await ask({ url: "organizations" })).status, 200);
  clock.advance(1);
  assert.equal((await ask({ url: "organizations" })).status, 401);
});

test("sign-out ends only that session, on every process", async (t) => {
  const other = startOperatorApi(t, deps);
  const [first, second] = [await aSession(), await aSession()];
  const out = await first.ask({ method: "DELETE", url: "session", headers: BY_CONSOLE });
  assert.equal(out.status, 204);
  assert.match(String(out.headers["set-cookie"]), /^partner_api_session=; Max-Age=0; Path=\/;/);
  assert.equal((await other.ask(as(first.cookie, { url: "organizations" }))).status, 401);
  assert.equal((await other.ask(as(second.cookie, { url: "organizations" }))).status, 200);
});

test("an ended session is remembered until it would have expired", async () => {
  const { ask, cookie } = await aSession();
  await ask({ method: "DELETE", url: "session", headers: BY_CONSOLE });
  const nonce = /=([^.]+)/.exec(cookie)?.[1] ?? "";
  const isKnown = async () => {
    const rows = await deps.db`select from ended_sessions where nonce = ${nonce}`;
    return rows.length === 1;
  };
  clock.advance(12 * HOUR_MS);
  await forgetEndedSessions(deps);
  assert.ok(await isKnown());
  clock.advance(HOUR_MS);
  await forgetEndedSessions(deps);
  assert.equal(await isKnown(), false);
});

test("a forged cookie is refused", async () => {
  const { cookie: genuine } = await aSession(READER.token);
  const [nonce = "", ms = "", mac = ""] = (genuine.split("=")[1] ?? "").split(".");
  const endsAt = new Date(clock().getTime() + HOUR_MS);
  const forgeries = {
    "a later end": `${nonce}.${Number(ms) + 1}.${mac}`,
    "another nonce": `${randomUUID()}.${ms}.${mac}`,
    "another signature": `${nonce}.${ms}.${"A".repeat(43)}`,
    "no signature": `${nonce}.${ms}.`,
    "a short signature": `${nonce}.${ms}.${mac.slice(1)}`,
    "another key": encodeSession({ nonce, endsAt }, "x".repeat(32)),
    "an empty key": encodeSession({ nonce, endsAt }, ""),
    "the token itself": READER.token,
    nothing: "",
  };
  for (const [what, value] of Object.entries(forgeries)) {
    const request = as(`partner_api_session=${value}`, { url: "organizations" });
    assert.equal((await api.ask(request)).status, 401, what);
  }
  const twice = `${genuine}; partner_api_session=${alice.token}`;
  assert.equal((await api.ask(as(twice, { url: "organizations" }))).status, 401);
  assert.equal((await api.ask(as(`a=b; ${genuine}`, { url: "organizations" }))).status, 200);
});

test("a request from another site changes nothing with the cookie", async () => {
  const { ask } = await aSession();
  const create = (slug: string, headers: Headers) =>
    ask({ method: "POST", url: "organizations", body: { slug }, headers });

  for (const headers of [
    {},
    { origin: "https://evil.example" },
    { origin: "null" },
    { host: "localhost", origin: "https://localhost" },
    { host: "localhost", origin: "http://localhost.evil.example" },
    { host: "localhost:8081", origin: "http://localhost:8082" },
    { "x-requested-with": "XMLHttpRequest" },
  ]) {
    const answer = await create("stolen", headers);
    assert.equal(answer.status, 403, JSON.stringify(headers));
    assert.equal(codeOf(answer), "cross_site");
  }
  const rows = await deps.db`select from organizations where slug = 'stolen'`;
  assert.equal(rows.length, 0);

  assert.equal((await create("asked-for", BY_CONSOLE)).status, 201);
  const own = { host: "localhost", origin: "http://localhost" };
  assert.equal((await create("same-origin", own)).status, 201);
  const https = { host: "localhost", origin: "https://localhost", "x-forwarded-proto": "https" };
  assert.equal((await create("same-https", https)).status, 201);
  assert.equal((await ask({ url: "organizations" })).status, 200);
});

test("a sign-out from another site changes nothing", async () => {
  const { ask } = await aSession();
  assert.equal((await ask({ method: "DELETE", url: "session" })).status, 403);
  assert.equal((await ask({ url: "organizations" })).status, 200);
});

test("a session has the role of its token", async () => {
  const { ask } = await aSession(READER.token);
  const headers = BY_CONSOLE;
  const refused = await ask({ method: "POST", url: "organizations", headers, body: {} });
  assert.equal(refused.status, 403);
  assert.equal(codeOf(refused), "insufficient_role");
  const out = await ask({ method: "DELETE", url: "session", headers });
  assert.equal(out.status, 204);
});

test("a token with the role publish can neither sign in nor use an older session", async () => {
  const refused = await signIn(PUBLISHER.token);
  assert.equal(refused.status, 403);
  assert.equal(codeOf(refused), "insufficient_role");
  assert.equal(refused.headers["set-cookie"], undefined);
  const endsAt = new Date(clock().getTime() + HOUR_MS);
  const value = encodeSession({ nonce: randomUUID(), endsAt }, PUBLISHER.token);
  const cookie = `partner_api_session=${value}`;
  assert.equal((await api.ask(as(cookie, { url: "event-types" }))).status, 401);
});

test("failed sign-ins and wrong tokens share one limit, and the right token passes", async (t) => {
  const api = startOperatorApi(t, deps);
  const wrong = "x".repeat(40);
  for (let i = 0; i < 5; i++) {
    assert.equal((await signIn(wrong, api)).status, 401);
    assert.equal((await api.ask({ url: "keys", authorization: `Bearer ${wrong}` })).status, 401);
  }
  const limited = await signIn(wrong, api);
  assert.equal(limited.status, 429);
  assert.ok(limited.headers["retry-after"]);
  assert.equal((await signIn(alice.token, api)).status, 204);
});

test("while the database is away a session shows its operator and no stored data", async (t) => {
  const { cookie } = await aSession();
  const away = () => Promise.reject(Object.assign(new Error("gone"), { code: "ECONNREFUSED" }));
  const db = Object.assign(away, { begin: away, within: () => db }) as unknown as Database;
  const api = startOperatorApi(t, { ...deps, db });
  assert.equal((await api.ask(as(cookie, { url: "session" }))).status, 200);
  assert.equal((await api.ask(as(cookie, { url: "organizations" }))).status, 503);
});

test("neither logs nor responses contain a cookie or the token", async (t) => {
  const api = startOperatorApi(t, deps);
  const cookie = cookieOf(await signIn(alice.token, api));
  await signIn(`${alice.token}x`, api);
  await api.ask(as(cookie, { url: "session" }));
  const log = JSON.stringify(api.logged);
  assert.equal(log.includes(alice.token), false);
  assert.equal(log.includes(cookie.split("=")[1] ?? "?"), false);
});

test("while ended sessions are unknown, a session sees no stored data in the overview", async (t) => {
  const { cookie } = await aSession();
  const { db } = deps;
  const overloaded = Object.assign((...args: Parameters<typeof db>) => {
    const [texts] = args as unknown as [unknown];
    const asksForSession = Array.isArray(texts) && texts.join("").includes("from ended_sessions");
    const error = Object.assign(new Error("no connection is free"), { code: "CONNECTION_CLOSED" });
    return asksForSession ? Promise.reject(error) : db(...args);
  }, db);
  const { ask } = startOperatorApi(t, { ...deps, db: overloaded });
  const { status, body } = await ask(as(cookie, { url: "overview" }));
  const overview = body as { status: string; last_24h: Record<string, number | null> };
  assert.deepEqual([status, overview.status], [200, "down"]);
  assert.ok(Object.values(overview.last_24h).every((count) => count === null));
  const byToken = (await ask({ url: "overview" })).body as typeof overview;
  assert.notEqual(byToken.last_24h["published"], null);
  assert.equal((await ask(as(cookie, { url: "organizations" }))).status, 503);
});

test("installations on two ports of a host keep each other's sessions", async (t) => {
  const others = [{ ...alice, token: "another-installation-with-32-characters" }];
  const second = startOperatorApi(t, deps, { tokens: others });
  const jar = { cookie: "" };
  const keep = (answer: Answer) => (jar.cookie = cookieOf(answer));
  const isIn = async ({ ask }: Pick<typeof api, "ask">) =>
    (await ask(as(jar.cookie, { url: "organizations" }))).status === 200;
  const signInAt = (place: typeof api, token: string) => signIn(token, place, jar);
  const signOutAt = ({ ask }: typeof api) =>
    ask(as(jar.cookie, { method: "DELETE", url: "session", headers: BY_CONSOLE }));

  keep(await signInAt(api, alice.token));
  assert.equal(await isIn(second), false);
  keep(await signInAt(second, others[0]?.token ?? ""));
  assert.deepEqual([await isIn(api), await isIn(second)], [true, true]);

  keep(await signInAt(api, alice.token));
  assert.equal(jar.cookie.split("~").length, 2, "a new sign-in replaces its own session only");
  const out = await signOutAt(second);
  assert.match(String(out.headers["set-cookie"]), /^partner_api_session=[\w.-]+; Max-Age=43200;/);
  keep(out);
  assert.deepEqual([await isIn(api), await isIn(second)], [true, false]);
  assert.match(String((await signOutAt(api)).headers["set-cookie"]), /session=; Max-Age=0;/);
});

test("a cookie keeps at most eight sessions, and none that has expired or is no session", async () => {
  const [, value = ""] = (await aSession()).cookie.split("=");
  const [, endsMs = "", mac = ""] = value.split(".");
  const foreign = (at: number, ends = endsMs) =>
    `01990000-0000-4000-8000-00000000000${at}.${ends}.${mac}`;
  const kept = async (...values: string[]) => {
    const answer = await signIn(alice.token, api, {
      cookie: `partner_api_session=${values.join("~")}`,
    });
    return cookieOf(answer).split("=")[1]?.split("~").slice(1);
  };
  const ten = Array.from({ length: 10 }, (_, at) => foreign(at));
  assert.deepEqual(await kept(...ten), ten.slice(0, 7));
  assert.deepEqual(await kept(foreign(1, "1"), "x", "", foreign(2), value), [foreign(2)]);
});
