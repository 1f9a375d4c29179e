import assert from "node:assert/strict";
import { test } from "node:test";
import type { InjectOptions, RouteOptions } from "fastify";
import type { App } from "../../src/http/app.ts";
import { createDatabase } from "../support/database.ts";
import { OPERATORS, startOperatorApi } from "../support/operator-api.ts";
import { startPartnerApi } from "../support/partner-api.ts";

const db = await createDatabase();

/**
 * The places from which other services take tokens. Addresses and headers end up in logs, histories and other
 * sites.
 */
const ELSEWHERE = (token: string): Pick<InjectOptions, "headers" | "query" | "payload">[] => [
  ...["token", "access_token", "api_key", "key", "authorization", "bearer"].flatMap((name) => [
    { query: { [name]: token } },
    { headers: { cookie: `${name}=${token}` } },
    { payload: { [name]: token } },
  ]),
  { headers: { "x-api-key": token } },
  { headers: { "x-authorization": `Bearer ${token}` } },
  { headers: { "x-forwarded-authorization": `Bearer ${token}` } },
  { headers: { "proxy-authorization": `Bearer ${token}` } },
  { headers: { authorization: `Basic ${btoa(`${token}:`)}` } },
  { headers: { authorization: `Basic ${btoa(`x:${token}`)}` } },
  { headers: { authorization: `Token ${token}` } },
  { headers: { authorization: `Digest username="${token}"` } },
];

test("every route of both listeners reads the token from the Authorization header only", async (t) => {
  const partners = startPartnerApi(t, db);
  const operators = startOperatorApi(t, partners.deps);
  const { token } = await partners.aKeyWith("webhooks:manage");
  const guarded = async (app: App) => {
    await app.ready();
    return app.routeTable.filter(
      ({ method, url }) =>
        /^\/api\/v1\/\w+\/(?!openapi)/.test(url) &&
        !(method === "POST" && url.endsWith("/session")), // Takes the token in its body.
    );
  };
  await refuseElsewhere(partners.app, await guarded(partners.app), token);
  await refuseElsewhere(operators.app, await guarded(operators.app), OPERATORS[0]?.token ?? "");
});

async function refuseElsewhere(app: App, routes: RouteOptions[], token: string): Promise<void> {
  assert.ok(routes.length > 5);
  for (const { method, url } of routes) {
    for (const [index, place] of ELSEWHERE(token).entries()) {
      const { statusCode } = await app.inject({
        method: method as NonNullable<InjectOptions["method"]>,
        url,
        remoteAddress: `192.0.2.${index}`, // Wrong tokens are limited by address.
        ...place,
      });
      assert.ok([401, 429].includes(statusCode), `${String(method)} ${url}: ${statusCode}`);
    }
  }
}
