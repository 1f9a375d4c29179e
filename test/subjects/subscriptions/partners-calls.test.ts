import assert from "node:assert/strict";
import { after, test } from "node:test";
import { column } from "../../support/columns.ts";
import { createDatabase } from "../../support/database.ts";
import { post, WANTED, WEBHOOKS } from "../../support/keyed-requests.ts";
import { startPartnerApi, type TestKey } from "../../support/partner-api.ts";

const db = await createDatabase();
const api = startPartnerApi({ after }, db);

const UUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";

type Api = ReturnType<typeof startPartnerApi>;
type Subscription = Record<string, unknown> & { id: string; secret: string };

const create = (api: Api, key: TestKey, url = WANTED.url) => post(api, key, "", { ...WANTED, url });

const list = async (api: Api, { authorization }: TestKey) =>
  (await api.inject({ url: WEBHOOKS, headers: { authorization } })).json<Subscription[]>();

const call = (
  api: Api,
  { authorization }: TestKey,
  method: "DELETE" | "POST",
  path: string,
  payload?: object,
) =>
  api.inject({
    method,
    url: `${WEBHOOKS}/${path}`,
    headers: { authorization },
    ...(payload ? { payload } : {}),
  });

test("the identity has four fields and describes the key", async () => {
  const organization = await api.anOrganization({ rateLimitPerMinute: 1_234 });
  const key = await api.aKeyOf(organization, "webhooks:manage");
  const response = await api.inject({
    url: "/api/v1/partner/me",
    headers: { authorization: key.authorization },
  });
  assert.equal(response.statusCode, 200);
  assert.deepEqual(response.json(), {
    partner_org: organization.slug,
    key_id: key.keyId,
    scopes: ["identity:read", "webhooks:manage"],
    rate_limit_per_minute: 1_234,
  });
});

test("a new subscription is returned with its secret, which no other response contains", async () => {
  const key = await api.aKeyWith("webhooks:manage");
  const url = "https://Hooks.Example.com:8443/a?b=c#d";
  const created = await create(api, key, url);
  assert.equal(created.statusCode, 201);

  const { id, secret, ...rest } = created.json<Subscription>();
  assert.match(id, new RegExp(`^wh_${UUID}$`));
  assert.match(secret, /^whsec_[A-Za-z0-9+/]{44}$/);
  assert.deepEqual(rest, {
    organization_id: `org_${key.organizationId}`,
    url,
    events: ["vc.test.ping"],
    active: true,
    auto_disabled_at: null,
    consecutive_failures: 0,
    created_at: "2026-01-01T00:00:00.000Z",
  });
  assert.deepEqual(await list(api, key), [{ id, ...rest }]);
  const test = await call(api, key, "POST", `${id}/test`, { secret });
  assert.ok(!test.body.includes("whsec_"));
});

test("the list has all subscriptions of the organization that are not deleted, newest first", async (t) => {
  const api = startPartnerApi(t, db);
  const key = await api.aKeyWith("webhooks:manage");
  await create(api, await api.aKeyWith("webhooks:manage"));
  assert.deepEqual(await list(api, key), []);

  const ids: string[] = [];
  for (let i = 0; i < 4; i++) {
    ids.unshift((await create(api, key)).json<Subscription>().id);
    api.clock.advance(1);
  }
  const [, disabled = "", deleted = ""] = ids;
  await db`update subscriptions set auto_disabled_at = '2026-01-02T03:04:05.678Z', consecutive_failures = 20
            where id = ${disabled.slice(3)}`;
  await call(api, key, "DELETE", deleted);

  const listed = await list(api, key);
  assert.deepEqual(
    column(listed, "id"),
    ids.filter((id) => id !== deleted),
  );
  const second: Record<string, unknown> = listed[1] ?? {};
  const { active, auto_disabled_at, consecutive_failures } = second;
  assert.deepEqual(
    [active, auto_disabled_at, consecutive_failures],
    [false, "2026-01-02T03:04:05.678Z", 20],
  );
});

test("every key of the organization sees and deletes the same subscriptions", async () => {
  const organization = await api.anOrganization();
  const [one, two] = await Promise.all([
    api.aKeyOf(organization, "webhooks:manage"),
    api.aKeyOf(organization, "webhooks:manage"),
  ]);
  const { id } = (await create(api, one)).json<Subscription>();
  assert.equal((await list(api, two)).length, 1);
  assert.equal((await call(api, two, "DELETE", id)).statusCode, 204);
  assert.deepEqual(await list(api, one), []);
});

test("a deletion returns an empty 204, and the next one 404", async () => {
  const key = await api.aKeyWith("webhooks:manage");
  const { id, secret } = (await create(api, key)).json<Subscription>();
  const deleted = await call(api, key, "DELETE", id);
  assert.deepEqual([deleted.statusCode, deleted.body], [204, ""]);
  assert.equal(deleted.headers["content-type"], undefined);

  assert.equal((await call(api, key, "DELETE", id)).statusCode, 404);
  assert.equal((await call(api, key, "POST", `${id}/test`, { secret })).statusCode, 404);
});

test("of many deletions at once, one succeeds", async () => {
  const key = await api.aKeyWith("webhooks:manage");
  const { id } = await api.aSubscriptionOf(key);
  const answers = await Promise.all(Array.from({ length: 8 }, () => call(api, key, "DELETE", id)));
  const statuses = answers.map(({ statusCode }) => statusCode).sort();
  assert.deepEqual(statuses, [204, 404, 404, 404, 404, 404, 404, 404]);
});

test("the limit of subscriptions is exact for 50 simultaneous creations, counts disabled ones, and ignores deleted ones", async (t) => {
  const api = startPartnerApi(t, db, {
    rules: { retryDelaysMs: [], autoDisableAfter: 20, maxSubscriptions: 10, leaseMs: 1 },
  });
  const key = await api.aKeyWith("webhooks:manage");
  const answers = await Promise.all(Array.from({ length: 50 }, () => create(api, key)));
  const codes = answers.map((a) => (a.statusCode === 201 ? 201 : a.json<{ code: string }>().code));
  assert.equal(codes.filter((code) => code === 201).length, 10);
  assert.equal(codes.filter((code) => code === "subscription_limit").length, 40);

  const listed = await list(api, key);
  assert.equal(listed.length, 10);
  const { id = "" } = listed[0] ?? {};
  await db`update subscriptions set auto_disabled_at = ${api.clock()} where id = ${id.slice(3)}`;
  assert.equal((await create(api, key)).statusCode, 409);

  await call(api, key, "DELETE", id);
  assert.equal((await create(api, key)).statusCode, 201);
});

test("the same URL may be subscribed twice, with two secrets", async () => {
  const key = await api.aKeyWith("webhooks:manage");
  const one = (await create(api, key)).json<Subscription>();
  const two = (await create(api, key)).json<Subscription>();
  assert.notEqual(one.id, two.id);
  assert.notEqual(one.secret, two.secret);
});

test("the refusal of a URL explains the broken rule, and does not contain the resolved address", async (t) => {
  const api = startPartnerApi(t, db, {
    checkDestination: () =>
      Promise.resolve({ ok: false, refusal: "address_not_public", detail: "It is not public." }),
  });
  const response = await create(api, await api.aKeyWith("webhooks:manage"));
  assert.equal(response.statusCode, 422);
  const { code, detail, errors } = response.json<Record<string, unknown>>();
  assert.deepEqual(
    [code, detail, errors],
    ["url_rejected", "It is not public.", [{ pointer: "/url", detail: "It is not public." }]],
  );
});

for (const [refusal, retryAfter] of [
  ["no_resolver", "60"],
  ["too_many_lookups", "5"],
] as const) {
  test(`with ${refusal} creating gets 503, and no outage of the database is reported`, async (t) => {
    const outages: unknown[] = [];
    const api = startPartnerApi(t, db, {
      checkDestination: () => Promise.resolve({ ok: false, refusal, detail: "" }),
      options: { onUnavailable: (error) => outages.push(error) },
    });
    const response = await create(api, await api.aKeyWith("webhooks:manage"));
    assert.deepEqual([response.statusCode, response.headers["retry-after"]], [503, retryAfter]);
    assert.deepEqual(outages, []);
  });
}

test("a test call returns a new event id each time, after the event is stored", async (t) => {
  const api = startPartnerApi(t, db);
  const key = await api.aKeyWith("webhooks:manage");
  const { id, secret } = await api.aSubscriptionOf(key);
  const answers = await Promise.all(
    Array.from({ length: 5 }, () => call(api, key, "POST", `${id}/test`, { secret })),
  );
  const eventIds = answers.map((answer) => {
    assert.equal(answer.statusCode, 200);
    const { event_id, ...rest } = answer.json<{ event_id: string }>();
    assert.match(event_id, new RegExp(`^evt_${UUID}$`));
    assert.deepEqual(rest, { enqueued: true });
    return event_id;
  });
  assert.equal(new Set(eventIds).size, 5);

  const waiting = await db<{ event_id: string }[]>`
    select event_id from waiting_deliveries where subscription_id = ${id.slice(3)}`;
  assert.deepEqual(waiting.map(({ event_id }) => `evt_${event_id}`).sort(), eventIds.sort());
  assert.deepEqual([...new Set(api.nudged)], [id.slice(3)], "the dispatcher is nudged");
});
