import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import type { OperatorRole } from "../../../src/subjects/operators/rules.ts";
import { createDatabase } from "../../support/database.ts";
import { createEngine } from "../../support/engine.ts";
import {
  OPERATORS,
  PUBLISHER,
  READER,
  type Request,
  startOperatorApi,
} from "../../support/operator-api.ts";

const { deps } = await createEngine(await createDatabase());

/** Everything that a publishing service may do. */
const FOR_PUBLISHERS = new Set([
  "POST /api/v1/admin/events",
  "GET /api/v1/admin/events/:id",
  "GET /api/v1/admin/event-types",
  "PUT /api/v1/admin/bridges/:id",
  "DELETE /api/v1/admin/bridges/:id",
]);

const tokens: Record<OperatorRole, string> = {
  operate: OPERATORS[0]?.token ?? "",
  read: READER.token,
  publish: PUBLISHER.token,
};

function mayCall(role: OperatorRole, method: string, route: string): boolean {
  if (role === "publish") return FOR_PUBLISHERS.has(route);
  return role === "operate" || method === "GET" || route === "DELETE /api/v1/admin/session";
}

test("every route accepts the roles that may call it, and answers others with insufficient_role", async (t) => {
  const { ask, guardedRoutes } = startOperatorApi(t, deps);
  const routes = await guardedRoutes();
  const met = new Set(routes.map(({ method, url }) => `${String(method)} ${url}`));
  for (const route of FOR_PUBLISHERS) assert.ok(met.has(route), `${route} is served`);

  for (const { method, url } of routes) {
    const route = `${String(method)} ${url}`;
    for (const [role, token] of Object.entries(tokens) as [OperatorRole, string][]) {
      const answer = await ask({
        method: method as NonNullable<Request["method"]>,
        url: url.replace(":id", `wh_${randomUUID()}`).replace(":key_id", "0".repeat(20)),
        authorization: `Bearer ${token}`,
      });
      assert.equal(answer.headers["x-operator-role"], role);
      const isAllowed = mayCall(role, String(method), route);
      assert.equal(answer.status === 403, !isAllowed, `${route} as ${role}: ${answer.status}`);
      if (isAllowed) continue;
      const { code, detail } = answer.body as { code: string; detail: string };
      assert.equal(code, "insufficient_role");
      assert.match(detail, new RegExp(role));
    }
  }
});

test("the role is checked before the body is read", async (t) => {
  const { ask } = startOperatorApi(t, deps);
  const body = { slug: "x".repeat(100_000) };
  const authorization = `Bearer ${READER.token}`;
  const { status } = await ask({ method: "POST", url: "organizations", body, authorization });
  assert.equal(status, 403);
});
