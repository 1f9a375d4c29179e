import assert from "node:assert/strict";
import { test } from "node:test";
import { createDatabase } from "../../support/database.ts";
import { createEngine } from "../../support/engine.ts";
import { startOperatorApi } from "../../support/operator-api.ts";

const { deps } = await createEngine(await createDatabase());

test("health and metrics need no token", async (t) => {
  const { ask } = startOperatorApi(t, deps);
  for (const url of ["/healthz", "/readyz"]) {
    assert.equal((await ask({ url, authorization: null })).status, 200);
  }
  const metrics = await ask({ url: "/metrics", authorization: null });
  assert.equal(metrics.status, 200);
  assert.equal(metrics.headers["content-type"], "text/plain; version=0.0.4");
  assert.equal(metrics.text, "up 1\n");
});

test("a process that only dispatches has nothing but health and metrics", async (t) => {
  const { ask } = startOperatorApi(t, deps, { withApi: false });
  for (const url of ["/healthz", "/readyz", "/metrics"]) {
    assert.equal((await ask({ url })).status, 200);
  }
  for (const url of ["organizations", "openapi.json"]) {
    assert.equal((await ask({ url })).status, 404);
  }
});

test("an unknown path is 404 and an unknown method 405, token or not", async (t) => {
  const { ask } = startOperatorApi(t, deps);
  for (const authorization of [null, undefined]) {
    const who = authorization === undefined ? {} : { authorization };
    assert.equal((await ask({ url: "nothing", ...who })).status, 404);
    const { status, headers } = await ask({ method: "PUT", url: "keys", ...who });
    assert.equal(status, 405);
    assert.equal(headers["allow"], "GET, POST");
  }
});
