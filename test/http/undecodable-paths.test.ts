import assert from "node:assert/strict";
import { test } from "node:test";
import { createDatabase } from "../support/database.ts";
import { startPartnerApi } from "../support/partner-api.ts";
import { aListeningApi, problemCheck } from "../support/problems.ts";
import { converse, rawRequest } from "../support/raw-http.ts";

const db = await createDatabase();

const HOST = "Host: localhost";

test("an id that cannot be decoded still needs a key and counts against its limit", async (t) => {
  const api = startPartnerApi(t, db);
  const organization = await api.anOrganization({ rateLimitPerMinute: 2 });
  const { authorization } = await api.aKeyOf(organization, "webhooks:manage");
  const url = "/api/v1/partner/webhooks/%zz/failures";
  const statusFor = async (headers: Record<string, string>) =>
    (await api.inject({ url, headers })).statusCode;
  assert.equal(await statusFor({}), 401);
  const statuses = [];
  for (let n = 0; n < 3; n++) statuses.push(await statusFor({ authorization }));
  assert.deepEqual(statuses, [404, 404, 429]);
});

test("an ambiguous request to an unknown path ends the connection", async (t) => {
  const { api, base } = await aListeningApi(t, db);
  const ambiguous = rawRequest("POST /%zz HTTP/1.1", [HOST, "Transfer-Encoding: gzip, chunked"]);
  const next = rawRequest("GET /healthz HTTP/1.1", [HOST]);
  const [answer, ...more] = await converse(base, `${ambiguous}0\r\n\r\n${next}`);
  assert.ok(answer);
  (await problemCheck(api))(answer, "malformed_request");
  assert.deepEqual(more, []);
});
