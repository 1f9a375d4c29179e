import assert from "node:assert/strict";
import { test } from "node:test";
import { Busy } from "../../src/domain/errors.ts";
import { createDatabase } from "../support/database.ts";
import { startPartnerApi } from "../support/partner-api.ts";

test("an outage at admission counts for the key's shard", async (t) => {
  const noted: unknown[] = [];
  const { app, deps, aKeyWith } = startPartnerApi(t, await createDatabase({ max: 2 }), {
    options: { onUnavailable: (_error, request) => noted.push(request.deps) },
  });
  const { authorization } = await aKeyWith("webhooks:manage");
  deps.batched.admit = () => Promise.reject(new Busy());
  const { statusCode } = await app.inject({
    url: "/api/v1/partner/webhooks",
    headers: { authorization },
  });
  assert.equal(statusCode, 503);
  assert.equal(noted.length, 1);
  assert.equal(noted[0], deps);
});

test("a response that takes too long is no outage of the database", async (t) => {
  const noted: unknown[] = [];
  const { app, listen } = startPartnerApi(t, await createDatabase({ max: 1 }), {
    options: { timeouts: { answer: 50 }, onUnavailable: (error) => noted.push(error) },
  });
  app.get("/held", () => new Promise(() => undefined));
  const { status, headers } = await fetch(`${await listen()}/held`);
  assert.deepEqual([status, headers.get("retry-after")], [503, "1"]);
  assert.deepEqual(noted, []);
});
