import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import addFormats from "ajv-formats";
import { Ajv2020 } from "ajv/dist/2020.js";
import { type Problem, PROBLEMS } from "../../src/http/problem.ts";
import type { ErrorCode } from "../../src/lib/errors.ts";
import type { Database } from "../../src/postgres/database.ts";
import { BASE_URL, type PartnerApi, startPartnerApi } from "./partner-api.ts";

const MEMBERS = ["code", "detail", "request_id", "status", "title", "type"];

/** An answer of any client. */
export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** A function that checks everything that we promise about errors, including the published schema. */
export async function problemCheck(
  api: PartnerApi,
): Promise<(answer: Answer, code: ErrorCode) => Problem> {
  const response = await api.inject({ url: "/api/v1/partner/openapi.json" });
  const { components } = response.json<{ components: { schemas: { Problem: object } } }>();
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  const isPublished = ajv.compile({ components, ...components.schemas.Problem });

  return ({ status, headers, body }, code) => {
    assert.equal(status, PROBLEMS[code].status, body);
    assert.equal(headers["content-type"], "application/problem+json");
    assert.equal(headers["x-content-type-options"], "nosniff");
    assert.equal(headers["cache-control"], "no-store");
    assert.ok(headers["date"]);

    const problem = JSON.parse(body) as Problem;
    assert.ok(isPublished(problem), JSON.stringify(isPublished.errors));
    const members = problem.errors ? [...MEMBERS, "errors"].sort() : MEMBERS;
    assert.deepEqual(Object.keys(problem).sort(), members);
    assert.equal(problem.type, `${BASE_URL}/docs/errors#${code}`);
    assert.deepEqual([problem.code, problem.status], [code, status]);
    assert.equal(problem.request_id, headers["x-request-id"]);
    return problem;
  };
}

/** The partners' listener on a port, and a partner. */
export async function aListeningApi(t: TestContext, db: Database) {
  const api = startPartnerApi(t, db);
  const { authorization } = await api.aKeyWith("webhooks:manage");
  return { api, base: await api.listen(), authorization };
}

/** The same, and a check of its errors. */
export async function aCheckedApi(t: TestContext, db: Database) {
  const listening = await aListeningApi(t, db);
  return { ...listening, check: await problemCheck(listening.api) };
}

/** Requests over HTTP. A body that is not text is sent as JSON. */
export async function ask(
  url: string,
  {
    method = "GET",
    headers = {},
    body,
  }: { method?: string; headers?: Record<string, string>; body?: string | object } = {},
): Promise<Answer> {
  const response = await fetch(url, {
    method,
    headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    body: await response.text(),
  };
}
