import assert from "node:assert/strict";
import { test } from "node:test";
import { createDatabase } from "../support/database.ts";
import { startPartnerApi } from "../support/partner-api.ts";
import { converse, rawRequest, sendRaw } from "../support/raw-http.ts";

const db = await createDatabase();

const HEALTH = rawRequest("GET /healthz HTTP/1.1", ["Host: localhost"]);
const UNKNOWN = rawRequest("GET /nowhere HTTP/1.1", ["Host: localhost"]);

test("while the process drains, every response closes its connection", async (t) => {
  let isStopping = false;
  const api = startPartnerApi(t, db, { options: { isStopping: () => isStopping } });
  const url = await api.listen();
  const before = await sendRaw(url, HEALTH);
  assert.equal(before.headers["connection"], "keep-alive");
  isStopping = true;
  for (const [request, status] of [
    [HEALTH, 200],
    [UNKNOWN, 404],
  ] as const) {
    const answer = await sendRaw(url, request);
    assert.deepEqual([answer.status, answer.headers["connection"]], [status, "close"]);
  }
});

test("while the process drains, requests that were sent ahead are answered", async (t) => {
  const api = startPartnerApi(t, db, { options: { isStopping: () => true } });
  const answers = await converse(await api.listen(), HEALTH + UNKNOWN + HEALTH);
  assert.deepEqual(
    answers.map(({ status, headers }) => [status, headers["connection"]]),
    [
      [200, "keep-alive"],
      [404, "keep-alive"],
      [200, "close"],
    ],
  );
});
