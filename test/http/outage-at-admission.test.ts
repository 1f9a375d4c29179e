import assert from "node:assert/strict";
import { test } from "node:test";
import { Busy } from "../../src/lib/errors.ts";
import { createDatabase } from "../support/database.ts";
import { startPartnerApi } from "../support/partner-api.ts";

test("an outage at admission is noted", async (t) => {
  const noted: unknown[] = [];
  const { app, deps, aKeyWith } = startPartnerApi(t, await createDatabase({ max: 2 }), {
    options: { onUnavailable: (error) => noted.push(error) },
  });
  const { authorization } = await aKeyWith("webhooks:manage");
  const busy = new Busy();
  deps.batched.admit = () => Promise.reject(busy);
  const { statusCode } = await app.inject({
    url: "/api/v1/partner/webhooks",
    headers: { authorization },
  });
  assert.equal(statusCode, 503);
  assert.deepEqual(noted, [busy]);
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
