import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import addFormats from "ajv-formats";
import { Ajv2020 } from "ajv/dist/2020.js";
import { loadEventTypes } from "../../../src/event-types/load.ts";
import { fieldsOf } from "../../../src/http/docs/event-pages.ts";
import { webhooksOf } from "../../../src/http/partner-app.ts";
import { createEventTypes } from "../../../src/subjects/event-types/rules.ts";
import { announceEventTypes } from "../../../src/subjects/event-types/work.ts";
import { pageOfDeliveries } from "../../../src/subjects/listings.ts";
import { column } from "../../support/columns.ts";
import { createDatabase } from "../../support/database.ts";
import { aFolder, CUSTOMER, ORDER, typeFile } from "../../support/event-types.ts";
import { post, WANTED } from "../../support/keyed-requests.ts";
import { startPartnerApi } from "../../support/partner-api.ts";

const db = await createDatabase();
const DOCUMENT = "/api/v1/partner/openapi.json";

async function anApiWith(t: Parameters<typeof aFolder>[0], files: Record<string, object>) {
  const eventTypes = createEventTypes(await loadEventTypes(await aFolder(t, files)));
  return startPartnerApi(t, db, { eventTypes });
}
const SHOP = { "order.created.json": ORDER, "customer.changed.json": CUSTOMER };

test("a partner subscribes to configured types, and a 422 lists all of them", async (t) => {
  const api = await anApiWith(t, SHOP);
  const key = await api.aKeyWith("webhooks:manage");
  const subscribe = (...events: string[]) => post(api, key, "", { ...WANTED, events });
  const made = await subscribe("order.created", "vc.test.ping");
  assert.equal(made.statusCode, 201);
  assert.deepEqual(made.json<{ events: string[] }>().events, ["order.created", "vc.test.ping"]);

  const refused = await subscribe("order.created", "order.cancelled");
  assert.equal(refused.statusCode, 422);
  assert.deepEqual(refused.json<{ errors: object[] }>().errors, [
    {
      pointer: "/events/1",
      detail: "must be one of vc.test.ping, customer.changed, order.created",
    },
  ]);
});

test("a list of types has at most 2,000 characters", async (t) => {
  const names = Array.from({ length: 100 }, (_, i) => `order.${"x".repeat(11)}${100 + i}`);
  const files = names.map((name) => [`${name}.json`, typeFile({ type: "object" })] as const);
  const api = await anApiWith(t, Object.fromEntries([...files, ["a.b.json", typeFile({})]]));
  const key = await api.aKeyWith("webhooks:manage");
  const subscribe = (events: string[]) => post(api, key, "", { ...WANTED, events });
  // 20 characters each: 95 of them and their commas make 1,994.
  assert.equal((await subscribe(names.slice(0, 95))).statusCode, 201);
  assert.equal((await subscribe([...names.slice(0, 95), "a.b"])).statusCode, 201);
  const refused = await subscribe(names.slice(0, 96));
  assert.equal(refused.statusCode, 422);
  assert.match(refused.body, /"pointer":"\/events","detail":"must have at most 2000 characters/);
});

test("without EVENT_TYPES the API document and the pages list only `vc.test.ping`", async (t) => {
  const api = startPartnerApi(t, db);
  const { webhooks } = (await api.inject({ url: DOCUMENT })).json<{ webhooks: object }>();
  assert.deepEqual(Object.keys(webhooks), ["vc.test.ping"]);
  const { body } = await api.inject({ url: "/docs/events" });
  assert.doesNotMatch(body, /All event types|<!--/);
  assert.equal((await api.inject({ url: "/docs/events/vc.test.ping" })).statusCode, 404);
  assert.equal((await api.inject({ url: "/docs/event-type" })).statusCode, 404);
});

test("the API document describes a delivery of each type, and its examples fit", async (t) => {
  const api = await anApiWith(t, SHOP);
  const document = (await api.inject({ url: DOCUMENT })).json<{
    components: object;
    webhooks: Record<string, { post: { requestBody: { content: Record<string, Media> } } }>;
  }>();
  interface Media {
    schema: object;
    example: { data: object };
  }
  assert.deepEqual(Object.keys(document.webhooks), [
    "vc.test.ping",
    "customer.changed",
    "order.created",
  ]);
  const ajv = new Ajv2020({ strict: false });
  addFormats.default(ajv);
  for (const [name, { post }] of Object.entries(document.webhooks)) {
    const { schema, example } = post.requestBody.content["application/json"] ?? assert.fail(name);
    const fits = ajv.compile({ components: document.components, ...schema });
    assert.ok(fits(example), `${name}: ${JSON.stringify(fits.errors)}`);
    assert.ok(!fits({ ...example, event: "other" }), name);
    if (name === "order.created")
      assert.ok(!fits({ ...example, data: { total: 1, customer: {} } }));
  }
});

test("each type has a page with its fields, an example and a request that verifies", async (t) => {
  const api = await anApiWith(t, SHOP);
  const page = async (url: string) => (await api.inject({ url })).body;
  assert.match(await page("/docs/events"), /href="\/docs\/events\/order\.created"/);

  const order = await page("/docs/events/order.created");
  assert.match(order, /<h1>order\.created<\/h1>\n<p class="summary">An order was placed\.<\/p>/);
  assert.match(order, /With <strong>Markdown<\/strong> and &lt;b&gt;HTML&lt;\/b&gt;/);
  for (const row of [
    "total</code></td><td>integer, required</td><td>In cents. At least",
    "customer.id",
    "lines[].sku",
  ]) {
    assert.ok(order.includes(`<td><code>${row}`), row);
  }
  assert.doesNotMatch(order, /event-type-|<!--/);

  const sample = order.split('data-language="http">')[1]?.split("</code>")[0] ?? "";
  const text = sample.replace(/<[^>]+>/g, "").replaceAll("&quot;", '"');
  const [head = "", body = ""] = text.split("\n\n");
  const [, secret = ""] = /<code>(whsec_\w+)/.exec(order) ?? [];
  const [, timestamp = ""] = /X-VC-Timestamp: (\d+)/.exec(head) ?? [];
  const mac = createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex");
  assert.ok(head.includes(`X-VC-Signature: sha256=${mac}`));

  const [, index = ""] = /data-index="([^"]+)"/.exec(order) ?? [];
  const found = JSON.parse(await page(index)) as { href: string; text: string }[];
  assert.match(
    found.find(({ href }) => href === "/events/order.created")?.text ?? "",
    /customer\.id/,
  );
});

test("operators still find the deliveries of a type without a file", async (t) => {
  const api = await anApiWith(t, SHOP);
  await announceEventTypes(api.deps, "00000000-0000-4000-8000-000000000001");
  const { deps } = startPartnerApi(t, db);
  assert.deepEqual((await pageOfDeliveries(deps, { event: "order.created" })).items, []);
  await assert.rejects(pageOfDeliveries(deps, { event: "order.unheard" }), {
    code: "invalid_request",
  });
});

test("a page lists every member of the top level first, and a recursion once", () => {
  const node = {
    type: "object",
    properties: {
      left: { $ref: "#/$defs/node" },
      right: { $ref: "#/$defs/node" },
      list: { type: "array", items: { $ref: "#/$defs/node" } },
      value: {},
    },
  };
  const schema = {
    $ref: "#/$defs/base",
    properties: {
      node: { $ref: "#/$defs/node" },
      either: {
        anyOf: [{ properties: { a: {} }, required: ["a"] }, { properties: { b: {} } }],
      },
      total: {},
    },
    required: ["total", "base"],
    $defs: { node, base: { properties: { base: { type: "string" } } } },
  };
  const type = { name: "a.b", summary: "s", schema, example: {}, faultsOf: () => [] };
  const fields = fieldsOf(type, createEventTypes([type]));
  assert.deepEqual(column(fields, "name"), [
    ...["node", "either", "total", "base"],
    ...["node.left", "node.right", "node.list", "node.value", "either.a", "either.b"],
  ]);
  const required = fields.filter((field) => field.required);
  assert.deepEqual(column(required, "name"), ["total", "base"]);
});

test("a page lists members that only a condition or `required` names, and says what a member is that may be null", () => {
  const text = { type: "string" };
  const orNull = (schema: object) => ({ anyOf: [schema, { type: "null" }] });
  const schema = {
    properties: {
      kind: orNull({ enum: ["card", "bank"], type: "string", description: "How." }),
      lines: orNull({ type: "array", items: { properties: { sku: text } } }),
      either: { oneOf: [text, { type: "integer" }, { type: "null" }] },
      within: { allOf: [{ $ref: "#/$defs/within" }], description: "Own." },
      pair: { type: "array", prefixItems: [text, { properties: { x: text } }] },
      labels: { type: "object", additionalProperties: { properties: { note: text } } },
    },
    required: ["id"],
    ...{ then: { properties: { last4: text }, required: ["last4"] } },
    ...{
      else: { properties: { iban: text } },
      dependentSchemas: { id: { properties: { by: text } } },
    },
    $defs: { within: { type: "object", properties: { deep: text } } },
  };
  const type = { name: "a.b", summary: "s", schema, example: {}, faultsOf: () => [] };
  const lines = fieldsOf(type, createEventTypes([type])).map(
    ({ name, type, required, description }) =>
      `${name}: ${type}${required ? ", required" : ""} ${description}`.trimEnd(),
  );
  assert.deepEqual(lines, [
    "kind: string or null How. One of `card`, `bank`.",
    "lines: array of any or null",
    "either: string or integer or null",
    "within: object Own.",
    "pair: array",
    "labels: object",
    ...["last4: string", "iban: string", "by: string", "id: any, required"],
    ...["lines[].sku: string", "within.deep: string", "pair[].x: string", "labels.*.note: string"],
  ]);
});

test("the API document has each shared definition once", () => {
  const address = { type: "object", properties: { next: { $ref: "#/$defs/address" } } };
  const schema = {
    properties: { a: { $ref: "#/$defs/address" }, c: { $ref: "c.d" } },
    $defs: { address },
  };
  const types = ["a.b", "c.d", "e.f"].map((name) => ({
    name,
    summary: "s",
    schema: name === "c.d" ? {} : schema,
    example: {},
    faultsOf: () => [],
  }));
  const { schemas } = webhooksOf(createEventTypes(types));
  assert.deepEqual(
    Object.keys(schemas).filter((name) => name.startsWith("Data.")),
    ["Data.address"],
  );
  assert.deepEqual(Reflect.get(schemas, "e.f"), {
    properties: {
      a: { $ref: "#/components/schemas/Data.address" },
      c: { $ref: "#/components/schemas/c.d" },
    },
  });
});
