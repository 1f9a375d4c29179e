import assert from "node:assert/strict";
import { test } from "node:test";
import { createDatabase } from "../support/database.ts";
import { startPartnerApi } from "../support/partner-api.ts";
import { problemCheck } from "../support/problems.ts";

const db = await createDatabase();

test("the process is alive regardless of its checks", async (t) => {
  const health = { ready: () => Promise.resolve([{ name: "database", ok: false }]) };
  const api = startPartnerApi(t, db, { options: { health } });
  const response = await api.inject({ url: "/healthz" });
  assert.deepEqual([response.statusCode, response.json()], [200, { status: "ok" }]);
});

test("the process is ready while every check passes, and lists the checks", async (t) => {
  const checks = [
    { name: "database", ok: true },
    { name: "clock", ok: true, detail: "0.1 s from the database's clock" },
  ];
  const health = { ready: () => Promise.resolve(checks) };
  const api = startPartnerApi(t, db, { options: { health } });

  const ready = await api.inject({ url: "/readyz" });
  assert.deepEqual([ready.statusCode, ready.json()], [200, { status: "ready", checks }]);

  checks.push({ name: "no_resolver", ok: false });
  const not = await api.inject({ url: "/readyz" });
  assert.deepEqual([not.statusCode, not.json()], [503, { status: "not ready", checks }]);
  assert.equal(not.headers["retry-after"], "5");
});

test("a check that throws does not reveal why", async (t) => {
  const health = { ready: () => Promise.reject(new Error("no route to 10.1.2.3")) };
  const api = startPartnerApi(t, db, { options: { health } });
  const check = await problemCheck(api);
  const { statusCode: status, headers, body } = await api.inject({ url: "/readyz" });
  check({ status, headers: headers as Record<string, string>, body }, "internal");
  assert.ok(!body.includes("10.1.2.3"));
});
