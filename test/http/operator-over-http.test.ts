import assert from "node:assert/strict";
import { test } from "node:test";
import { createDatabase } from "../support/database.ts";
import { acknowledged, aSubscription, createEngine, publish, refused } from "../support/engine.ts";
import { OPERATORS, startOperatorApi } from "../support/operator-api.ts";

test("an operator's day, over real HTTP", async (t) => {
  const { deps, clock, deliverDue } = await createEngine(await createDatabase());
  const { app } = startOperatorApi(t, deps);
  const base = await app.listen({ host: "127.0.0.1", port: 0 });

  interface Body {
    id: string;
    key_id: string;
    items: Body[];
  }
  const ask = async (line: string, body?: object) => {
    const [method = "", path = ""] = line.split(" ");
    const response = await fetch(`${base}/api/v1/admin/${path}`, {
      method,
      headers: {
        authorization: `Bearer ${OPERATORS[0]?.token ?? ""}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, text, body: (text === "" ? {} : JSON.parse(text)) as Body };
  };

  const made = await ask("POST organizations", { slug: "acme" });
  assert.equal(made.status, 201);
  const limit = { rate_limit_per_minute: 30 };
  assert.equal((await ask("PATCH organizations/acme", limit)).status, 200);
  assert.equal((await ask("GET organizations")).body.items.length, 1);

  const key = await ask("POST keys", { organization: "acme" });
  assert.equal(key.status, 201);
  assert.equal((await ask("GET keys?organization=acme")).body.items.length, 1);
  for (let i = 0; i < 2; i++) {
    const revoked = await ask(`DELETE keys/${key.body.key_id}`);
    assert.deepEqual([revoked.status, revoked.text], [204, ""]);
  }

  const organizationId = made.body.id.slice("org_".length);
  await aSubscription(deps, organizationId);
  await publish(deps, organizationId);
  for (let i = 0; i < 7; i++) {
    await deliverDue(() => refused);
    clock.advance(86_400_000);
  }
  const [delivery] = (await ask("GET deliveries?state=dead_lettered")).body.items;
  assert.equal((await ask(`GET deliveries/${delivery?.id ?? ""}`)).status, 200);
  assert.equal((await ask(`POST deliveries/${delivery?.id ?? ""}/redeliver`)).status, 202);
  assert.equal((await ask(`POST deliveries/${delivery?.id ?? ""}/redeliver`, {})).status, 202);
  const emptyJson = await fetch(`${base}/api/v1/admin/deliveries/${delivery?.id ?? ""}/redeliver`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${OPERATORS[0]?.token ?? ""}`,
      "content-type": "application/json",
    },
  });
  assert.equal(emptyJson.status, 202);
  assert.equal(await deliverDue(() => acknowledged), 3);

  const [subscription] = (await ask("GET subscriptions")).body.items;
  assert.equal((await ask(`DELETE subscriptions/${subscription?.id ?? ""}`)).status, 204);
  assert.equal((await ask(`DELETE subscriptions/${subscription?.id ?? ""}`)).status, 404);
});
