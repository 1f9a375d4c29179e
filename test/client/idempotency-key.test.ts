import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { createPartnerClient, orThrow } from "../../src/client/partner-client.ts";
import { createDatabase } from "../support/database.ts";
import { EVENTS, startPartnerApi } from "../support/partner-api.ts";

const db = await createDatabase();

test("a call with an idempotency key can be repeated", async (t) => {
  const api = startPartnerApi(t, db);
  const { token } = await api.aKeyWith("webhooks:manage");
  const client = createPartnerClient({ baseUrl: await api.listen(), token });

  const request = { url: "https://hooks.example.com/", events: EVENTS };
  const keyed = { idempotencyKey: randomUUID() };
  const created = orThrow(await client.createSubscription(request, keyed));
  assert.deepEqual(orThrow(await client.createSubscription(request, keyed)), created);
  assert.equal(orThrow(await client.listSubscriptions()).length, 1);

  const { id, secret } = created;
  const event = orThrow(await client.sendTestEvent(id, secret, keyed));
  assert.deepEqual(orThrow(await client.sendTestEvent(id, secret, keyed)), event);
  assert.notDeepEqual(orThrow(await client.sendTestEvent(id, secret)), event);

  const other = { ...request, url: "https://other.example.com/" };
  const refused = await client.createSubscription(other, keyed);
  assert.equal(refused.error?.code, "idempotency_key_reused");
});
