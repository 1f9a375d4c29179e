import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, test } from "node:test";
import type { InjectOptions } from "fastify";
import { pino } from "pino";
import type { App } from "../../src/http/app.ts";
import { buildApp } from "../../src/http/build-app.ts";
import { guardRoutes } from "../../src/http/partner.ts";
import { revokeApiKey } from "../../src/subjects/keys/work.ts";
import { columns } from "../support/columns.ts";
import { createDatabase } from "../support/database.ts";
import { type PartnerApi, startPartnerApi } from "../support/partner-api.ts";

const db = await createDatabase();
const api = startPartnerApi({ after }, db);

type Ask = (request: {
  authorization?: string | undefined;
  id?: string;
  headers?: Record<string, string>;
}) => ReturnType<PartnerApi["inject"]>;

/** All registered routes that need a key, with requests to them. */
async function guardedRoutes() {
  const routes = (await api.routes()).filter(({ url }) =>
    /^\/api\/v1\/partner\/(?!openapi)/.test(url),
  );
  return routes.map(({ method, url, schema, config }) => {
    const ask: Ask = ({ authorization, id = `wh_${randomUUID()}`, headers }) =>
      api.inject({
        method: method as NonNullable<InjectOptions["method"]>,
        url: url.replace(":id", id),
        headers: { ...(authorization === undefined ? {} : { authorization }), ...headers },
        ...(schema?.body === undefined ? {} : { payload: aBodyFor(url) }),
      });
    return { where: `${String(method)} ${url}`, url, scope: config?.scope, ask };
  });
}

function aBodyFor(url: string): object {
  return url.endsWith("/test")
    ? { secret: "whsec_wrong" }
    : { url: "https://hooks.example.com/", events: ["vc.test.ping"] };
}

test("exactly the six routes of the specification need a key", async () => {
  const routes = await guardedRoutes();
  assert.deepEqual(columns(routes, "where", "scope"), [
    ["GET /api/v1/partner/me", "identity:read"],
    ["POST /api/v1/partner/webhooks", "webhooks:manage"],
    ["GET /api/v1/partner/webhooks", "webhooks:manage"],
    ["DELETE /api/v1/partner/webhooks/:id", "webhooks:manage"],
    ["POST /api/v1/partner/webhooks/:id/test", "webhooks:manage"],
    ["GET /api/v1/partner/webhooks/:id/failures", "webhooks:manage"],
  ]);
});

test("no route accepts a caller without a valid key, and all refusals are the same", async () => {
  const { token, authorization, keyId } = await api.aKeyWith("webhooks:manage");
  const revoked = await api.aKeyWith("webhooks:manage");
  await revokeApiKey(api.deps, revoked.keyId);
  const secret = token.slice(token.indexOf(".") + 1);
  const otherLetter = secret.startsWith("A") ? "B" : "A";

  const refused: Record<string, string | undefined> = {
    "without a key": undefined,
    "with an empty header": "",
    "with only the scheme": "Bearer ",
    "with no secret": `Bearer vck_${keyId}`,
    "with an empty secret": `Bearer vck_${keyId}.`,
    "with no key id": `Bearer vck_.${secret}`,
    "with only the secret": `Bearer ${secret}`,
    "without the prefix": `Bearer ${keyId}.${secret}`,
    "with another prefix": `Bearer vcx_${keyId}.${secret}`,
    "with a dot too many": `Bearer vck_${keyId}.${secret}.`,
    "with a space in the token": `Bearer vck_${keyId}. ${secret}`,
    "with another scheme": `Basic ${token}`,
    "with another scheme in base64": `Basic ${Buffer.from(`${token}:`).toString("base64")}`,
    "with the scheme twice": `Bearer Bearer ${token}`,
    "with a wrong secret": `Bearer vck_${keyId}.${otherLetter}${secret.slice(1)}`,
    "with an unknown key": `Bearer vck_${"0".repeat(20)}.${secret}`,
    "with a key id in capitals": `Bearer vck_${keyId.toUpperCase()}.${secret}`,
    "with a key of 10 KB": `Bearer vck_${keyId}.${"A".repeat(10_000)}`,
    "with SQL": `Bearer vck_${keyId}' or '1'='1.${secret}`,
    "with a revoked key": revoked.authorization,
  };

  for (const { where, ask } of await guardedRoutes()) {
    for (const [how, header] of Object.entries(refused)) {
      const headers = { "x-request-id": "same" };
      const response = await ask({ authorization: header, headers });
      assert.equal(response.statusCode, 401, `${where} ${how}`);
      assert.equal(response.headers["www-authenticate"], "Bearer");
      assert.equal(response.headers["ratelimit"], undefined);
      assert.deepEqual(response.json(), {
        type: "https://partners.example.com/docs/errors#unauthenticated",
        title: "Unauthenticated",
        status: 401,
        code: "unauthenticated",
        detail: "The API key is missing, malformed, unknown or revoked.",
        request_id: "same",
      });
    }
    const accepted = [authorization, token, `bearer ${token}`, `BEARER  ${token}`];
    for (const header of accepted) {
      const { statusCode } = await ask({ authorization: header });
      assert.notEqual(statusCode, 401, `${where} with ${header.slice(0, 8)}`);
    }
  }
});

test("no route serves a key without its scope", async () => {
  const { authorization } = await api.aKeyWith();
  for (const { where, scope, ask } of await guardedRoutes()) {
    const response = await ask({ authorization });
    if (scope === "identity:read") {
      assert.equal(response.statusCode, 200, where);
    } else {
      assert.equal(response.statusCode, 403, where);
      assert.equal(response.json<{ code: string }>().code, "insufficient_scope", where);
    }
  }
});

test("every route counts against the organization's limit, and none serves beyond it", async () => {
  for (const { where, ask } of await guardedRoutes()) {
    const organization = await api.anOrganization({ rateLimitPerMinute: 1 });
    const { authorization } = await api.aKeyOf(organization, "webhooks:manage");
    const first = await ask({ authorization });
    assert.notEqual(first.statusCode, 429, where);
    assert.equal(first.headers["ratelimit-policy"], '"default";q=1;w=60', where);
    assert.equal(first.headers["ratelimit"], '"default";r=0;t=60', where);

    const second = await ask({ authorization });
    assert.equal(second.statusCode, 429, where);
    assert.equal(second.headers["retry-after"], "60", where);
    assert.equal(second.headers["ratelimit"], '"default";r=0;t=60', where);
  }
});

test("foreign, unknown and malformed ids get the same response", async () => {
  const { authorization } = await api.aKeyWith("webhooks:manage");
  const stranger = await api.aKeyWith("webhooks:manage");
  const foreign = await api.aSubscriptionOf(stranger);
  const bare = foreign.id.slice("wh_".length);

  const ids = [
    foreign.id,
    `wh_${randomUUID()}`,
    `wh_${bare.toUpperCase()}`,
    `org_${bare}`,
    bare,
    "wh_",
    "1",
    "%00",
    `wh_${bare}%00`,
    `wh_${bare}%27`,
    "..",
    "wh_%F0%9F%92%A9",
    "%ff",
    "%zz",
    "x".repeat(4_000),
  ];
  const headers = { "x-request-id": "same" };
  for (const { where, url, ask } of await guardedRoutes()) {
    if (!url.includes(":id")) continue;
    const bodies = new Set<string>();
    for (const id of ids) {
      const response = await ask({ authorization, id, headers });
      assert.equal(response.statusCode, 404, `${where} with ${id.slice(0, 60)}`);
      bodies.add(response.body);
    }
    assert.equal(bodies.size, 1, where);

    for (const id of ["1", "x".repeat(4_000)]) {
      assert.equal((await ask({ id })).statusCode, 401, `${where} without a key`);
    }
  }

  const listed = await api.inject({
    url: "/api/v1/partner/webhooks",
    headers: { authorization: stranger.authorization },
  });
  assert.equal(listed.json<unknown[]>().length, 1, "the foreign subscription still exists");
});

test("the public routes need no key", async () => {
  for (const url of ["/healthz", "/readyz", "/api/v1/partner/openapi.json"]) {
    assert.equal((await api.inject({ url })).statusCode, 200, url);
  }
});

test("the process does not start while a route declares no scope", async () => {
  const app = buildApp({ logger: pino({ level: "silent" }), baseUrl: () => "" });
  app.register(async (own: App) => {
    guardRoutes(own, api.deps);
    await own.after();
    own.get("/forgotten", () => "open to all");
  });
  await assert.rejects(async () => app.ready(), /GET \/forgotten declares no scope/);
});
