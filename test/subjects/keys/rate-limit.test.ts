import assert from "node:assert/strict";
import { after, test } from "node:test";
import { revokeApiKey } from "../../../src/subjects/keys/work.ts";
import { setRateLimit } from "../../../src/subjects/organizations/work.ts";
import { createClock } from "../../support/clock.ts";
import { column } from "../../support/columns.ts";
import { createDatabase } from "../../support/database.ts";
import { startPartnerApi, type TestKey } from "../../support/partner-api.ts";
import { untilBlocked } from "../../support/until-blocked.ts";

const db = await createDatabase();
const api = startPartnerApi({ after }, db);

const ME = "/api/v1/partner/me";

const ask = (api: ReturnType<typeof startPartnerApi>, { authorization }: TestKey, url = ME) =>
  api.inject({ url, headers: { authorization } });

test("of 700 requests at once, over two processes and three keys, exactly 600 pass", async (t) => {
  const clock = createClock();
  const apis = [startPartnerApi(t, db, { clock }), startPartnerApi(t, db, { clock })] as const;
  const organization = await apis[0].anOrganization();
  const key = await apis[0].aKeyOf(organization);
  const keys = [key, await apis[0].aKeyOf(organization), await apis[0].aKeyOf(organization)];

  const answers = await Promise.all(
    Array.from({ length: 700 }, (_, i) => ask(i % 2 === 0 ? apis[0] : apis[1], keys[i % 3] ?? key)),
  );
  const count = (status: number) => answers.filter((a) => a.statusCode === status).length;
  assert.deepEqual([count(200), count(429)], [600, 100]);

  const remaining = answers
    .filter((a) => a.statusCode === 200)
    .map((a) => Number(/r=(\d+);/.exec(String(a.headers["ratelimit"]))?.[1]))
    .sort((a, b) => a - b);
  assert.deepEqual(
    remaining,
    Array.from({ length: 600 }, (_, i) => i),
    "each response shows its own place",
  );
});

test("a window lasts 60 seconds from its first request, and the response shows the remainder", async (t) => {
  const api = startPartnerApi(t, db);
  const key = await api.aKeyOf(await api.anOrganization({ rateLimitPerMinute: 2 }));
  const standing = async () => {
    const { statusCode, headers } = await ask(api, key);
    return [statusCode, headers["ratelimit"], headers["retry-after"]];
  };

  assert.deepEqual(await standing(), [200, '"default";r=1;t=60', undefined]);
  api.clock.advance(20_500);
  assert.deepEqual(await standing(), [200, '"default";r=0;t=40', undefined]);
  assert.deepEqual(await standing(), [429, '"default";r=0;t=40', "40"]);
  api.clock.advance(39_499);
  assert.deepEqual(await standing(), [429, '"default";r=0;t=1', "1"]);
  api.clock.advance(1);
  assert.deepEqual(await standing(), [200, '"default";r=1;t=60', undefined]);
});

test("a caller that waits for Retry-After passes", async (t) => {
  const api = startPartnerApi(t, db);
  const key = await api.aKeyOf(await api.anOrganization({ rateLimitPerMinute: 1 }));
  await ask(api, key);
  api.clock.advance(12_345);
  const { headers } = await ask(api, key);
  api.clock.advance(Number(headers["retry-after"]) * 1000);
  assert.equal((await ask(api, key)).statusCode, 200);
});

test("every authenticated request counts, with any response; refused keys and refused requests do not", async (t) => {
  const api = startPartnerApi(t, db);
  const organization = await api.anOrganization({ rateLimitPerMinute: 4 });
  const key = await api.aKeyOf(organization);

  assert.equal((await ask(api, key, "/api/v1/partner/webhooks")).statusCode, 403);
  assert.equal((await ask(api, { ...key, authorization: `${key.token}x` })).statusCode, 401);
  assert.equal((await ask(api, key, "/api/v1/partner/nowhere")).statusCode, 404);
  const statuses = [];
  for (let i = 0; i < 10; i++) statuses.push((await ask(api, key)).statusCode);
  assert.deepEqual(statuses, [200, 200, 200, 429, 429, 429, 429, 429, 429, 429]);

  api.clock.advance(60_000);
  const { headers } = await ask(api, key);
  assert.equal(headers["ratelimit"], '"default";r=3;t=60', "nothing was carried over");
});

test("organizations have separate windows, and a new limit applies to the next request", async () => {
  const organization = await api.anOrganization({ rateLimitPerMinute: 1 });
  const [key, other] = [await api.aKeyOf(organization), await api.aKeyWith()];
  await ask(api, key);
  assert.equal((await ask(api, key)).statusCode, 429);
  assert.equal((await ask(api, other)).statusCode, 200);

  await setRateLimit(api.deps, organization.slug, 3);
  const { statusCode, headers } = await ask(api, key);
  assert.deepEqual(
    [statusCode, headers["ratelimit-policy"], headers["ratelimit"]],
    [200, '"default";q=3;w=60', '"default";r=1;t=60'],
  );
});

test("lowering a limit does not reset the count", async () => {
  const organization = await api.anOrganization({ rateLimitPerMinute: 5 });
  const key = await api.aKeyOf(organization);
  for (let used = 1; used <= 3; used++) assert.equal((await ask(api, key)).statusCode, 200);

  await setRateLimit(api.deps, organization.slug, 1);
  assert.equal((await ask(api, key)).statusCode, 429);
  await setRateLimit(api.deps, organization.slug, 5);
  assert.equal((await ask(api, key)).headers["ratelimit"], '"default";r=1;t=60');
});

test("requests with unknown, revoked or wrong keys are not counted", async () => {
  const organization = await api.anOrganization();
  const [key, revoked] = [await api.aKeyOf(organization), await api.aKeyOf(organization)];
  await ask(api, key);
  await ask(api, revoked);
  await revokeApiKey(api.deps, revoked.keyId);
  const used = async () => db`select organization_id, used from rate_windows order by 1`;
  const before = [...(await used())];

  const wrong = "A".repeat(43);
  const refused = [`vck_${key.keyId}.${wrong}`, `vck_${"0".repeat(20)}.${wrong}`, revoked.token];
  for (const authorization of refused) {
    assert.equal((await ask(api, { ...key, authorization })).statusCode, 401);
  }
  assert.deepEqual([...(await used())], before);
});

test("an organization's first request does not count for another in the same batch", async () => {
  const [known, fresh] = [await api.aKeyWith(), await api.aKeyWith()];
  await ask(api, known);
  const answers = await Promise.all([ask(api, known), ask(api, fresh)]);
  assert.deepEqual(column(answers, "statusCode"), [200, 200]);
});

test("simultaneous counts of two processes are both kept", async () => {
  const organization = await api.anOrganization({ rateLimitPerMinute: 10 });
  const key = await api.aKeyOf(organization);
  await ask(api, key);

  const { meanwhile } = await db.begin(async (tx) => {
    await tx`update rate_windows set used = used + 5 where organization_id = ${organization.id}`;
    const meanwhile = ask(api, key);
    await untilBlocked(db);
    return { meanwhile };
  });
  assert.equal((await meanwhile).headers["ratelimit"], '"default";r=3;t=60');
});

test("windows are locked in one order", async () => {
  const keys = [await api.aKeyWith(), await api.aKeyWith()];
  for (const key of keys) await ask(api, key);
  const [first, second] = keys.toSorted((a, b) => (a.organizationId < b.organizationId ? -1 : 1));
  assert.ok(first && second);

  const { meanwhile } = await db.begin(async (tx) => {
    const lock = (id: string) =>
      tx`select from rate_windows where organization_id = ${id} for update nowait`;
    await lock(first.organizationId);
    const meanwhile = Promise.all([ask(api, second), ask(api, first)]);
    await untilBlocked(db);
    await lock(second.organizationId);
    return { meanwhile };
  });
  assert.deepEqual(column(await meanwhile, "statusCode"), [200, 200]);
});

test("a bounded number of keys waits for its use to be written", async (t) => {
  const api = startPartnerApi(t, db);
  const key = await api.aKeyWith();
  for (let i = 0; i < 10_000; i++) api.deps.keysUsed.set(String(i), new Date());
  assert.equal((await ask(api, key)).statusCode, 200);
  assert.equal(api.deps.keysUsed.size, 10_000);
});
