import assert from "node:assert/strict";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { PROBLEMS, type Problem } from "../../src/http/problem.ts";
import type { RawAnswer } from "../support/raw-http.ts";
import { MARK } from "./junk.ts";
import { type Listener, ROUTE_HEADER } from "./world.ts";

type Schema = Record<string, unknown>;

interface Operation {
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>;
}

interface Document {
  components: { schemas: { Problem: Schema } };
  paths: Record<string, Record<string, Operation>>;
}

/** Statuses that any request may get, documented once for all operations. */
const ANY_TIME = [400, 404, 405, 408, 431];

/** Routes of files and of the OpenAPI documents. All other routes have response schemas. */
const FILES = /^\/$|^\/(docs|console)(\/\*)?$|^\/(llms\.txt|docs\.md|metrics)$|\/openapi\.json$/;

export type Judge = (method: string, answer: RawAnswer) => void;

/** Checks every response of a listener against its OpenAPI document. */
export async function createJudge({
  base,
  document: path,
  routes,
}: Pick<Listener, "base" | "document" | "routes">): Promise<Judge> {
  const document = (await (await fetch(base + path)).json()) as Document;
  const { paths } = document;
  const components = { schemas: closed(document.components.schemas) };
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  const compiled = new Map<string, ValidateFunction>();
  const isProblem = ajv.compile({ components, ...components.schemas.Problem });

  return (method, { status, headers, body }) => {
    assert.ok(status < 500, "a server error");
    assert.match(headers["x-request-id"] ?? "", /^[A-Za-z0-9_-]{1,64}$/);
    assert.equal(headers["x-content-type-options"], "nosniff");
    assert.equal(headers["x-injected"], undefined);
    judgeReflection(status, headers, body);

    const url = headers[ROUTE_HEADER] ?? "";
    const operation = paths[url.replace(/:(\w+)/g, "{$1}")]?.[method.toLowerCase()];
    if (status === 404 && !operation && headers["content-type"]?.startsWith("text/html")) return;
    if (status >= 400) {
      const documented = operation?.responses[String(status)];
      assert.ok(documented ?? ANY_TIME.includes(status), `${status} is not in the document`);
      judgeProblem(status, headers, method === "HEAD" ? null : body);
      if (documented)
        assert.ok(
          JSON.stringify(documented).includes(`"${codeOf(body)}"`),
          "a code of another operation",
        );
      return;
    }
    const published = operation
      ? schemaIn(operation, status, body)
      : schemaOfRoute(method, url, status);
    if (published) fits(`${method} ${url} ${status}`, published, JSON.parse(body));
  };

  /** The schema of a route that is in no document, or null for a file. */
  function schemaOfRoute(method: string, url: string, status: number): Schema | null {
    const route = routes.find((one) => one.url === url && one.method === method);
    assert.ok(route, "the response comes from no route");
    const responses = route.schema?.response as Record<number, Schema> | undefined;
    const schema = responses?.[status] ?? null;
    assert.ok(schema ?? FILES.test(url), `${url} documents nothing`);
    return schema;
  }

  function judgeProblem(status: number, headers: RawAnswer["headers"], body: string | null): void {
    assert.equal(headers["content-type"], "application/problem+json");
    assert.equal(headers["cache-control"], "no-store");
    if (body === null) return;
    const problem = JSON.parse(body) as Problem;
    assert.ok(isProblem(problem), JSON.stringify(isProblem.errors));
    assert.equal(problem.status, status);
    assert.equal(PROBLEMS[problem.code].status, status);
    assert.equal(problem.request_id, headers["x-request-id"]);
  }

  function fits(name: string, schema: Schema, value: unknown): void {
    let isFit = compiled.get(name);
    if (!isFit) compiled.set(name, (isFit = ajv.compile({ components, ...closed(schema) })));
    assert.ok(isFit(value), JSON.stringify(isFit.errors));
  }
}

function codeOf(body: string): string {
  return (JSON.parse(body) as Problem).code;
}

/** The documented schema of a response, or null if it has no body. */
function schemaIn({ responses }: Operation, status: number, body: string): Schema | null {
  const response = responses[String(status)];
  assert.ok(response, `${status} is not documented`);
  const schema = response.content?.["application/json"]?.schema ?? null;
  if (!schema) assert.equal(body, "", "a body where none is documented");
  return schema;
}

const POINTER = /"pointer":"(?:[^"\\]|\\.)*"/g;

/** No header and no error may repeat the request. The client's own request id is harmless. */
function judgeReflection(status: number, headers: RawAnswer["headers"], body: string): void {
  const { "x-request-id": id = "", "content-type": type = "", ...others } = headers;
  assert.ok(!JSON.stringify(others).includes(MARK), "a header repeats the request");
  const isData = status < 400 && type.startsWith("application/json");
  const told = body.replace(POINTER, ""); // The names of members help the caller to find a fault in its data.
  const text = id === MARK ? told.replace(`"request_id":"${MARK}"`, "") : told;
  assert.ok(isData || !text.includes(MARK), "the response repeats the request");
}

/** The same schemas without additional members. */
function closed<Schemas extends object>(schemas: Schemas): Schemas {
  const text = JSON.stringify(schemas);
  return JSON.parse(
    text.replaceAll('"type":"object"', '"type":"object","additionalProperties":false'),
  ) as Schemas;
}
