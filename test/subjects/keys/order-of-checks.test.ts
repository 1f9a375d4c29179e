import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, test } from "node:test";
import type { InjectOptions } from "fastify";
import { createDatabase } from "../../support/database.ts";
import { EVENTS, startPartnerApi } from "../../support/partner-api.ts";

const db = await createDatabase();
const api = startPartnerApi({ after }, db);

const WEBHOOKS = "/api/v1/partner/webhooks";
const TOO_LARGE = "x".repeat(70_000);

/** The code of each answer while the obstacles are removed one by one. */
async function codes(
  inject: (request: InjectOptions) => Promise<{ statusCode: number; body: string }>,
  requests: InjectOptions[],
): Promise<(string | number)[]> {
  const found = [];
  for (const request of requests) {
    const { statusCode, body } = await inject(request);
    found.push(statusCode < 400 ? statusCode : (JSON.parse(body) as { code: string }).code);
  }
  return found;
}

test("creating checks the key, the limit, the scope, the media type, the JSON, the shape, the room and the URL", async (t) => {
  let lookups = 0;
  const api = startPartnerApi(t, db, {
    checkDestination: () => {
      lookups++;
      return Promise.resolve({ ok: false, refusal: "dns_error", detail: "no such host" });
    },
  });
  const spent = await api.aKeyOf(await api.anOrganization({ rateLimitPerMinute: 1 }));
  await api.inject({ url: WEBHOOKS, headers: { authorization: spent.authorization } });
  const weak = await api.aKeyWith();
  const full = await api.aKeyWith("webhooks:manage");
  await fill(full.organizationId);
  const good = await api.aKeyWith("webhooks:manage");

  const post = (authorization: string, contentType: string, payload: string): InjectOptions => ({
    method: "POST",
    url: WEBHOOKS,
    headers: { authorization, "content-type": contentType },
    payload,
  });
  const wanted = JSON.stringify({ url: "https://nowhere.example.com/", events: EVENTS });
  const json = "application/json";
  assert.deepEqual(
    await codes(api.inject, [
      { ...post("", "text/plain", TOO_LARGE), method: "PATCH" },
      post("", "text/plain", TOO_LARGE),
      post(spent.authorization, "text/plain", TOO_LARGE),
      post(weak.authorization, "text/plain", TOO_LARGE),
      post(full.authorization, "text/plain", TOO_LARGE),
      post(full.authorization, json, TOO_LARGE),
      post(full.authorization, json, "{"),
      post(full.authorization, json, "{}"),
      post(full.authorization, json, wanted),
    ]),
    [
      "method_not_allowed",
      "unauthenticated",
      "rate_limited",
      "insufficient_scope",
      "unsupported_media_type",
      "payload_too_large",
      "malformed_request",
      "invalid_request",
      "subscription_limit",
    ],
  );
  assert.equal(lookups, 0, "no name is looked up for a request that is refused anyway");
  assert.deepEqual(await codes(api.inject, [post(good.authorization, json, wanted)]), [
    "url_rejected",
  ]);
});

test("a test call checks the shape, the existence, the state and the proof", async () => {
  const key = await api.aKeyWith("webhooks:manage");
  const active = await api.aSubscriptionOf(key);
  const disabled = await api.aSubscriptionOf(key);
  await db`update subscriptions set auto_disabled_at = ${api.clock()} where id = ${disabled.id.slice(3)}`;

  const ping = (id: string, payload: object): InjectOptions => ({
    method: "POST",
    url: `${WEBHOOKS}/${id}/test`,
    headers: { authorization: key.authorization },
    payload,
  });
  const unknown = `wh_${randomUUID()}`;
  const wrong = { secret: "whsec_wrong" };
  assert.deepEqual(
    await codes(api.inject, [
      ping(unknown, {}),
      ping(unknown, wrong),
      ping(disabled.id, wrong),
      ping(active.id, wrong),
      ping(active.id, { secret: "" }),
      ping(active.id, { secret: "x".repeat(10_000) }),
      ping(active.id, { secret: active.secret }),
    ]),
    [
      "invalid_request",
      "not_found",
      "subscription_inactive",
      "secret_mismatch",
      "secret_mismatch",
      "secret_mismatch",
      200,
    ],
  );
});

test("the audit checks the shape before the existence", async () => {
  const { authorization } = await api.aKeyWith("webhooks:manage");
  const url = `${WEBHOOKS}/wh_${randomUUID()}/failures`;
  const headers = { authorization };
  assert.deepEqual(
    await codes(api.inject, [
      { url: `${url}?limit=0`, headers },
      { url, headers },
    ]),
    ["invalid_request", "not_found"],
  );
});

test("a route without a body ignores it, and ignores the media type of an empty one", async () => {
  const key = await api.aKeyWith("webhooks:manage");
  const extras: Pick<InjectOptions, "headers" | "payload">[] = [
    {},
    { headers: { "content-type": "application/json" } },
    { headers: { "content-type": "text/plain" } },
    { headers: { "content-type": "nonsense" } },
    { headers: { "content-type": "application/json" }, payload: "{" },
    { headers: { "content-type": "text/plain" }, payload: TOO_LARGE },
  ];
  for (const { headers, ...rest } of extras) {
    const { id } = await api.aSubscriptionOf(key);
    const common = { headers: { authorization: key.authorization, ...headers }, ...rest };
    assert.deepEqual(
      await codes(api.inject, [
        { url: "/api/v1/partner/me", ...common },
        { url: WEBHOOKS, ...common },
        { url: `${WEBHOOKS}/${id}/failures`, ...common },
        { method: "DELETE", url: `${WEBHOOKS}/${id}`, ...common },
      ]),
      [200, 200, 200, 204],
      JSON.stringify(headers),
    );
  }
});

async function fill(organizationId: string): Promise<void> {
  await db`
    insert into subscriptions (id, organization_id, url, events, sealed_secret, created_at)
    select gen_random_uuid(), ${organizationId}, 'https://hooks.example.com/', ${EVENTS}, '\\x00', '2026-01-01T00:00:00Z'
      from generate_series(1, 100)`;
}
