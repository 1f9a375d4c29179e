import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { createDatabase } from "../../support/database.ts";
import { createEngine } from "../../support/engine.ts";
import { OPERATORS, type Request, startOperatorApi } from "../../support/operator-api.ts";
import { rawRequest, sendRaw } from "../../support/raw-http.ts";

const { deps, clock } = await createEngine(await createDatabase());
const wrong = `Bearer ${"x".repeat(40)}`;

test("no route accepts a missing or wrong token, and every route accepts a valid one", async (t) => {
  const { ask, guardedRoutes } = startOperatorApi(t, deps);
  const routes = await guardedRoutes();
  assert.ok(routes.length > 15);

  for (const [index, { method, url }] of routes.entries()) {
    const request = (authorization: string | null) =>
      ask({
        method: method as NonNullable<Request["method"]>,
        url: url.replace(":id", `wh_${randomUUID()}`).replace(":key_id", "0".repeat(20)),
        authorization,
        // Each from another address, so that no limit applies.
        remoteAddress: `192.0.2.${index}`,
      });
    const where = `${String(method)} ${url}`;
    for (const authorization of [null, wrong, OPERATORS[0]?.token ?? "", "Basic YTpi", "Bearer"]) {
      const { status, headers, body } = await request(authorization);
      assert.equal(status, 401, `${where} with ${String(authorization)}`);
      assert.equal(headers["www-authenticate"], "Bearer");
      assert.equal(headers["content-type"], "application/problem+json");
      assert.equal((body as { code: string }).code, "unauthenticated");
    }
    for (const { token } of OPERATORS) {
      const { status } = await request(`bearer ${token}`);
      assert.ok([200, 204, 400, 404, 422].includes(status), `${where}: ${status}`);
    }
  }
});

test("all failed sign-ins get the same response", async (t) => {
  const { ask } = startOperatorApi(t, deps);
  const answers = await Promise.all(
    [null, wrong, `Bearer ${OPERATORS[0]?.token.slice(1) ?? ""}`].map((authorization) =>
      ask({ url: "organizations", authorization }),
    ),
  );
  const [first, ...others] = answers.map(({ body }) => ({ ...(body as object), request_id: "" }));
  for (const other of others) assert.deepEqual(other, first);
});

test("two Authorization headers count as none", async (t) => {
  const { app } = startOperatorApi(t, deps);
  const base = await app.listen({ host: "127.0.0.1", port: 0 });
  const header = `Authorization: Bearer ${OPERATORS[0]?.token ?? ""}`;
  const statusWith = async (...headers: string[]) => {
    const line = "GET /api/v1/admin/organizations HTTP/1.1";
    return (await sendRaw(base, rawRequest(line, ["Host: localhost", ...headers]))).status;
  };
  assert.equal(await statusWith(header), 200);
  assert.equal(await statusWith(header, header), 401);
});

test("the eleventh wrong token within a minute gets 429, only from that address", async (t) => {
  const { ask, logged } = startOperatorApi(t, deps);
  const attempt = (remoteAddress: string, authorization: string | null = wrong) =>
    ask({ url: "organizations", authorization, remoteAddress });

  for (let i = 0; i < 10; i++) assert.equal((await attempt("198.51.100.1")).status, 401);
  clock.advance(20_000);
  const limited = await attempt("198.51.100.1");
  assert.equal(limited.status, 429);
  assert.equal(limited.headers["retry-after"], "40");
  assert.equal((limited.body as { code: string }).code, "rate_limited");
  assert.equal((await attempt("198.51.100.1")).status, 429);
  assert.equal((await attempt("198.51.100.2")).status, 401);

  // A right token still passes, and a missing token does not count.
  assert.equal((await attempt("198.51.100.1", `Bearer ${OPERATORS[1]?.token ?? ""}`)).status, 200);
  assert.equal((await attempt("198.51.100.1", null)).status, 401);

  clock.advance(40_000);
  assert.equal((await attempt("198.51.100.1")).status, 401);
  assert.deepEqual(
    logged.filter((line) => line["level"] === 40).map((line) => [line["remote"], line["msg"]]),
    [["198.51.100.1", "too many wrong operator tokens"]],
  );
});

test("a forged X-Forwarded-For does not evade the limit on wrong tokens", async (t) => {
  const { app } = startOperatorApi(t, deps);
  const statuses: number[] = [];
  for (let i = 0; i < 11; i++) {
    const claimed = `203.0.113.${i}`;
    const { statusCode } = await app.inject({
      url: "/api/v1/admin/keys",
      remoteAddress: "198.51.100.9",
      headers: {
        authorization: wrong,
        "x-forwarded-for": claimed,
        "x-real-ip": claimed,
        forwarded: `for=${claimed}`,
      },
    });
    statuses.push(statusCode);
  }
  assert.deepEqual(statuses, [...Array.from({ length: 10 }, () => 401), 429]);
});

test("a request without a token does not count as a wrong token", async (t) => {
  const { ask } = startOperatorApi(t, deps);
  for (let i = 0; i < 20; i++) {
    assert.equal((await ask({ url: "keys", authorization: null })).status, 401);
  }
});

test("the token is checked before the body", async (t) => {
  const { ask } = startOperatorApi(t, deps);
  const body = { slug: "x".repeat(100_000) };
  const post = { method: "POST", url: "organizations", body } as const;
  assert.equal((await ask({ ...post, authorization: null })).status, 401);
  assert.equal((await ask(post)).status, 413);
});

test("the log never contains a token", async (t) => {
  const { ask, logged } = startOperatorApi(t, deps);
  await ask({ method: "POST", url: "organizations", body: { slug: "quiet" } });
  const { text } = await ask({ method: "POST", url: "keys", body: { organization: "quiet" } });
  const { token } = JSON.parse(text) as { token: string };
  const log = JSON.stringify(logged);
  assert.ok(log.includes("create_key"));
  for (const secret of [token.split(".")[1] ?? "?", ...OPERATORS.map((o) => o.token)]) {
    assert.equal(log.includes(secret), false);
  }
});
