import assert from "node:assert/strict";
import { test } from "node:test";
import { hashSecret } from "../../src/domain/api-key.ts";
import { createDatabase, ownerOf } from "../support/database.ts";
import { EVENTS, startPartnerApi, type TestKey } from "../support/partner-api.ts";
import { untilBlocked } from "../support/until-blocked.ts";

const db = await createDatabase();

test("creations of one organization that wait for each other leave connections to the others", async (t) => {
  const api = startPartnerApi(t, db);
  const busy = await api.aKeyWith("webhooks:manage");
  const other = await api.aKeyWith("webhooks:manage");
  const create = ({ authorization }: TestKey) =>
    api.inject({
      method: "POST",
      url: "/api/v1/partner/webhooks",
      headers: { authorization },
      payload: { url: "https://hooks.example.com", events: EVENTS },
    });

  const order: string[] = [];
  const noted = async (name: string, key: TestKey) => {
    const { statusCode } = await create(key);
    order.push(`${name} ${statusCode}`);
  };
  let creations: Promise<void>[] = [];
  await ownerOf(db).begin(async (tx) => {
    await tx`select from organizations where id = ${busy.organizationId} for update`;
    creations = Array.from({ length: 30 }, () => noted("busy", busy));
    await untilBlocked(ownerOf(db));
    await noted("other", other);
  });
  await Promise.all(creations);
  assert.deepEqual(order, ["other 201", ...Array.from({ length: 30 }, () => "busy 201")]);
});

test("a request and an event of one organization overtake hundreds of earlier ones of another", async (t) => {
  const { deps, ...api } = startPartnerApi(t, db);
  const busy = await api.aKeyWith();
  const other = await api.aKeyWith();
  const ways = {
    admit: async ({ keyId, token }: TestKey) =>
      deps.batched.admit({ keyId, secretHash: hashSecret(token.slice(token.indexOf(".") + 1)) }),
    publish: async ({ organizationId }: TestKey) =>
      deps.batched.publish({ organizationId, type: "vc.test.ping", data: "{}" }),
  };
  for (const [name, call] of Object.entries(ways)) {
    const order: TestKey[] = [];
    const keys = [...Array.from({ length: 400 }, () => busy), other];
    const calls = keys.map(async (key) => {
      assert.ok(await call(key));
      order.push(key);
    });
    await Promise.all(calls);
    assert.ok(order.indexOf(other) < 300, `${name}: it went with the second batch of three`);
  }
});
