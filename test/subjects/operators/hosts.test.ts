import assert from "node:assert/strict";
import { test } from "node:test";
import { createDatabase } from "../../support/database.ts";
import { createEngine } from "../../support/engine.ts";
import { OPERATORS, startOperatorApi } from "../../support/operator-api.ts";
import { startPartnerApi } from "../../support/partner-api.ts";
import { rawRequest, sendRaw } from "../../support/raw-http.ts";

const db = await createDatabase();
const { deps } = await createEngine(db);

const ADMIN = "/api/v1/admin";
const KNOWN = ["ops.example.com", "partner_api"];
const OWN = ["localhost", "LOCALHOST:8081", "localhost.", "127.0.0.1", "127.0.0.1:8081", "10.1.2.3"]
  .concat(["[::1]", "[::1]:8081", "[fd00::1]:80", "0.0.0.0:1"])
  .concat(["ops.example.com", "OPS.example.com:443", "ops.example.com.:443", "partner_api:8081"]);
const FOREIGN = ["", "elsewhere.example", "127.0.0.1.elsewhere.example", "localhost.elsewhere"]
  .concat([
    "www.ops.example.com",
    "ops.example.com.elsewhere",
    "xops.example.com",
    "com",
    "..",
    "*",
  ])
  .concat([
    "2130706433",
    "0x7f.1",
    "[::1",
    "::1",
    "[localhost]",
    "localhost:80:80",
    "localhost..",
    ":80",
  ]);

async function aListener(t: Parameters<typeof startOperatorApi>[0], allowedHosts: string[]) {
  const { app } = startOperatorApi(t, deps, { allowedHosts });
  const base = await app.listen({ host: "127.0.0.1", port: 0 });
  const token = `Authorization: Bearer ${OPERATORS[0]?.token ?? ""}`;
  return async (host: string, line = `GET ${ADMIN}/keys HTTP/1.1`, ...headers: string[]) => {
    const { status, body } = await sendRaw(
      base,
      rawRequest(line, [`Host: ${host}`, token, ...headers]),
    );
    return { status, code: status < 400 ? null : (JSON.parse(body) as { code: string }).code };
  };
}

test("the operators' listener answers to loopback, addresses and configured names", async (t) => {
  const ask = await aListener(t, KNOWN);
  for (const host of OWN) assert.equal((await ask(host)).status, 200, host);
});

test("a request that names another host is misdirected on every path", async (t) => {
  const ask = await aListener(t, KNOWN);
  const misdirected = { status: 421, code: "misdirected_request" };
  for (const host of FOREIGN) assert.deepEqual(await ask(host), misdirected, host);
  for (const line of [
    `GET ${ADMIN}/openapi.json HTTP/1.1`,
    "GET /console HTTP/1.1",
    "GET /nowhere HTTP/1.1",
    `PUT ${ADMIN}/keys HTTP/1.1`,
    "POST /metrics HTTP/1.1",
    `DELETE ${ADMIN}/subscriptions/wh_x HTTP/1.1`,
    `GET http://localhost${ADMIN}/keys HTTP/1.1`,
  ]) {
    assert.deepEqual(await ask("elsewhere.example", line), misdirected, line);
  }
  const forwarded = ["X-Forwarded-Host: localhost", "Forwarded: host=localhost"];
  assert.deepEqual(await ask("elsewhere.example", undefined, ...forwarded), misdirected);
});

test("a request without a host is misdirected", async (t) => {
  const { app } = startOperatorApi(t, deps, { allowedHosts: KNOWN });
  const base = await app.listen({ host: "127.0.0.1", port: 0 });
  const asOf1996 = (path: string) => sendRaw(base, rawRequest(`GET ${path} HTTP/1.0`, []));
  assert.equal((await asOf1996(`${ADMIN}/keys`)).status, 421);
  assert.equal((await asOf1996("/healthz")).status, 200);
});

test("health and metrics accept any Host", async (t) => {
  const ask = await aListener(t, KNOWN);
  for (const path of ["/healthz", "/readyz", "/metrics"]) {
    for (const host of ["elsewhere.example", "10-1-2-3.pod", ""]) {
      assert.equal((await ask(host, `GET ${path} HTTP/1.1`)).status, 200, `${path} of ${host}`);
    }
  }
});

test("with ALLOWED_HOSTS=* every Host is accepted", async (t) => {
  const ask = await aListener(t, ["*"]);
  for (const host of FOREIGN) assert.equal((await ask(host)).status, 200, host);
});

test("the partners' listener accepts any Host", async (t) => {
  const api = startPartnerApi(t, db);
  const { authorization } = await api.aKeyWith();
  const headers = { authorization, host: "elsewhere.example" };
  const { statusCode } = await api.inject({ url: "/api/v1/partner/me", headers });
  assert.equal(statusCode, 200);
});
