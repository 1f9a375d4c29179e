import assert from "node:assert/strict";
import { after, test } from "node:test";
import { nameSchemas } from "../../src/http/schema.ts";
import { type ApiDocument, closed, operationsOf, validator } from "../support/api-document.ts";
import { createDatabase } from "../support/database.ts";
import { BASE_URL, EVENTS, type PartnerApi, startPartnerApi } from "../support/partner-api.ts";

const db = await createDatabase();

const fetchDocument = async (from: PartnerApi) =>
  (await from.inject({ url: "/api/v1/partner/openapi.json" })).json<ApiDocument>();

const api = startPartnerApi({ after }, db);
const document = await fetchDocument(api);

const BODY = ["400", "413", "415", "422"];
const ALWAYS = ["401", "403", "429", "500", "503"];

test("the document contains the six operations with all their statuses", () => {
  const statuses = operationsOf(document).map(({ name, responses }) => [
    name,
    Object.keys(responses).sort(),
  ]);
  assert.deepEqual(Object.fromEntries(statuses), {
    "GET /api/v1/partner/me": ["200", ...ALWAYS].sort(),
    "POST /api/v1/partner/webhooks": ["201", "404", "409", ...BODY, ...ALWAYS].sort(),
    "GET /api/v1/partner/webhooks": ["200", ...ALWAYS].sort(),
    "DELETE /api/v1/partner/webhooks/{id}": ["204", "404", ...ALWAYS].sort(),
    "POST /api/v1/partner/webhooks/{id}/test": ["200", "404", "409", ...BODY, ...ALWAYS].sort(),
    "GET /api/v1/partner/webhooks/{id}/failures": ["200", "404", "422", ...ALWAYS].sort(),
  });
});

test("the document has exactly the routes that need a key", async () => {
  const registered = (await api.routes())
    .filter(({ config }) => config?.scope !== undefined)
    .map(({ method, url }) => `${String(method)} ${url.replace(":id", "{id}")}`);
  const documented = operationsOf(document).map(({ name }) => name);
  assert.deepEqual(documented.sort(), registered.sort());
});

test("the document is complete: version, server, key, names, descriptions, parameters and examples", () => {
  assert.equal(document.openapi, "3.1.0");
  assert.equal(document.info.version, "1.0.0");
  assert.deepEqual(document.servers, [{ url: BASE_URL }]);
  const [scheme = ""] = Object.keys(document.components.securitySchemes);
  assert.deepEqual(document.security, [{ [scheme]: [] }]);

  const operations = operationsOf(document);
  assert.equal(new Set(operations.map(({ operationId }) => operationId)).size, operations.length);
  for (const { name, path, summary, description, parameters = [], ...operation } of operations) {
    assert.ok(summary && description, name);
    assert.equal(operation.security, undefined, `${name} needs the key like all others`);
    const inPath = parameters.filter((p) => p.in === "path").map((p) => `{${p.name}}`);
    assert.deepEqual(inPath, path.match(/\{\w+\}/g) ?? [], name);

    for (const [status, response] of Object.entries(operation.responses)) {
      assert.notEqual(response.description, "Default Response", `${name} ${status}`);
      const isError = Number(status) >= 400;
      const type = isError ? "application/problem+json" : "application/json";
      assert.deepEqual(Object.keys(response.content ?? {}), status === "204" ? [] : [type]);
      if (isError) {
        const { schema, examples = {} } = response.content?.[type] ?? {};
        const named = response.description.match(/(?<=`)\w+(?=`)/g);
        assert.deepEqual(schema, { $ref: "#/components/schemas/Problem" });
        assert.deepEqual(Object.keys(examples), named);
      }
    }
  }
});

test("every schema is valid, every reference leads somewhere, and every example fits", () => {
  const fits = validator(document);
  let examples = 0;
  for (const { name, requestBody, responses } of operationsOf(document)) {
    for (const [status, { content }] of [
      ...Object.entries(responses),
      ["body", requestBody ?? {}] as const,
    ]) {
      for (const media of Object.values(content ?? {})) {
        if (media.example === undefined) {
          fits.compile(media.schema);
          continue;
        }
        examples++;
        fits.check(media.schema, media.example, `${name} ${status}`);
      }
    }
  }
  assert.equal(examples, 6, "the number of examples of bodies");
});

test("every model and every delivery has a name, and every problem an example", () => {
  assert.deepEqual(Object.keys(document.components.schemas), [
    "AcceptedEvent",
    "EventTypeName",
    "Failure",
    "FailuresPage",
    "Fault",
    "Identity",
    "NewSubscription",
    "Problem",
    "Proof",
    "Subscription",
    "SubscriptionRequest",
    "EventEnvelope",
    "vc.test.ping",
    "vc.test.ping.Envelope",
  ]);
  assert.deepEqual(anonymousModels(document.paths), []);

  const fits = validator(document);
  const { schemas, examples } = document.components;
  const codes = Object.values(document.paths).flatMap((item) =>
    Object.values(item).flatMap(({ responses }) =>
      Object.values(responses).flatMap(({ content }) =>
        Object.keys(content?.["application/problem+json"]?.examples ?? {}),
      ),
    ),
  );
  assert.deepEqual(Object.keys(examples).sort(), [...new Set(codes)].sort());
  for (const [code, { value }] of Object.entries(examples)) {
    fits.check(schemas["Problem"] ?? assert.fail(), value, code);
    assert.equal(value.code, code);
  }
});

test("a delivery is described with all its headers", () => {
  const { webhooks, components } = document;
  const { parameters } = webhooks["vc.test.ping"]?.["post"] ?? assert.fail();
  const names = parameters.map(({ $ref }) => $ref.replace("#/components/parameters/", ""));
  assert.deepEqual(names, [
    "X-VC-Signature",
    "X-VC-Timestamp",
    "X-VC-Attempt",
    "webhook-id",
    "webhook-timestamp",
    "webhook-signature",
  ]);
  for (const name of names) assert.equal(components.parameters[name]?.name, name);
});

test("what deliveries refer to is in reach of a path, for generators that drop everything else", () => {
  const reached = (part: object) => {
    const found = new Set<string>();
    const walk = (text: string) => {
      for (const [, kind = "", name = ""] of text.matchAll(/#\/components\/(\w+)\/([^"]+)/g)) {
        if (found.has(`${kind}/${name}`)) continue;
        found.add(`${kind}/${name}`);
        const components = document.components as unknown as Record<string, Record<string, object>>;
        walk(JSON.stringify(components[kind]?.[name]));
      }
    };
    walk(JSON.stringify(part));
    return found;
  };
  const byPaths = reached(document.paths);
  assert.deepEqual(
    [...reached(document.webhooks)].filter((name) => !byPaths.has(name)),
    ["schemas/EventEnvelope"], // The envelope of each type repeats its members.
  );
});

test("two different schemas cannot have one name", () => {
  const paths = { a: { title: "A", type: "string" }, b: { title: "A", type: "integer" } };
  assert.throws(() => nameSchemas(paths, {}), /two different schemas are called A/);
});

test("responses match the document and contain nothing else", async () => {
  const strict = validator(closed(document));
  const key = await api.aKeyWith("webhooks:manage");
  const { id, secret } = await api.aSubscriptionOf(key);
  await db`
    insert into attempts (id, delivery_id, subscription_id, event_id, event_type, attempt, http_status, reason,
                          dead_lettered, duration_ms, attempted_at)
    select gen_random_uuid(), gen_random_uuid(), ${id.slice(3)}, gen_random_uuid(), 'vc.test.ping', 1, 0, 'timeout',
           false, 1, '2026-01-01T00:00:00Z'`;

  const bodies: Record<string, object> = {
    createSubscription: { url: "https://hooks.example.com/", events: EVENTS },
    sendTestEvent: { secret },
  };
  const operations = operationsOf(document).sort((a, b) =>
    a.operationId === "deleteSubscription" ? 1 : b.operationId === "deleteSubscription" ? -1 : 0,
  );
  for (const { name, method, path, operationId, responses } of operations) {
    const payload = bodies[operationId];
    const response = await api.inject({
      method,
      url: path.replace("{id}", id),
      headers: { authorization: key.authorization },
      ...(payload ? { payload } : {}),
    });
    const described = responses[String(response.statusCode)];
    assert.ok(described && response.statusCode < 300, `${name} answered ${response.body}`);
    const schema = described.content?.["application/json"]?.schema;
    if (schema) strict.check(closed(schema), response.json(), name);
  }
});

test("the server's address is determined when the port is known", async (t) => {
  let port = 0;
  const api = startPartnerApi(t, db, { options: { baseUrl: () => `http://127.0.0.1:${port}` } });
  port = Number(new URL(await api.listen()).port);
  const { servers } = await fetchDocument(api);
  assert.deepEqual(servers, [{ url: `http://127.0.0.1:${port}` }]);
});

/** The places of objects without a name. */
function anonymousModels(value: unknown, at = ""): string[] {
  if (typeof value !== "object" || value === null) return [];
  const own = "properties" in value ? [at] : [];
  return [
    ...own,
    ...Object.entries(value)
      .filter(([key]) => !key.startsWith("example"))
      .flatMap(([key, one]) => anonymousModels(one, `${at}/${key}`)),
  ];
}
