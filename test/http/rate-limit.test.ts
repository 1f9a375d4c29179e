import assert from "node:assert/strict";
import { test } from "node:test";
import { setRateLimit } from "../../src/actions/organizations.ts";
import { createDatabase } from "../support/database.ts";
import { createClock } from "../support/clock.ts";
import { startPartnerApi, type TestKey } from "../support/partner-api.ts";

const db = await createDatabase();

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
    "each request is told its own place",
  );
});

test("a window lasts 60 seconds from its first request, and says how much of it is left", async (t) => {
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

test("a caller who waits as long as Retry-After says gets through", async (t) => {
  const api = startPartnerApi(t, db);
  const key = await api.aKeyOf(await api.anOrganization({ rateLimitPerMinute: 1 }));
  await ask(api, key);
  api.clock.advance(12_345);
  const { headers } = await ask(api, key);
  api.clock.advance(Number(headers["retry-after"]) * 1000);
  assert.equal((await ask(api, key)).statusCode, 200);
});

test("every authenticated request counts whatever it answers; refused keys and refused requests do not", async (t) => {
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

test("organizations do not share a window, and a new limit holds from the next request on", async (t) => {
  const api = startPartnerApi(t, db);
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
