import assert from "node:assert/strict";
import { test } from "node:test";
import { loadEventTypes, loadFolder } from "../../src/event-types/load.ts";
import { aFolder, typeFile } from "../support/event-types.ts";
import { column } from "../support/columns.ts";

const DRAFT_07 = "http://json-schema.org/draft-07/schema#";

test("a schema of draft-07 is translated to 2020-12", async (t) => {
  const schema = {
    $schema: DRAFT_07,
    type: "object",
    properties: {
      pair: {
        type: "array",
        items: [{ type: "string" }, { $ref: "#amount" }],
        additionalItems: false,
      },
      card: { type: "string" },
    },
    dependencies: { card: ["pair"], pair: { required: ["other"] } },
    definitions: {
      amount: { $id: "#amount", $schema: DRAFT_07, type: "integer", description: "In cents." },
    },
  };
  const example = { pair: ["a", 1], other: 1 };
  const [type] = await loadEventTypes(await aFolder(t, { "a.b.json": typeFile(schema, example) }));
  assert.ok(type);
  assert.deepEqual(column(type.faultsOf({ pair: [1, "1", 2], other: 1 }), "pointer"), [
    "/pair/0",
    "/pair/1",
    "/pair",
  ]);
  assert.deepEqual(column(type.faultsOf({ card: "c" }), "pointer"), ["/pair"]);
  assert.deepEqual(column(type.faultsOf({ pair: [] }), "pointer"), ["/other"]);
  assert.doesNotMatch(JSON.stringify(type.schema), /draft-07|dependencies|additionalItems/);
});

test("an $id of draft-07 that says where it stands is no anchor", async (t) => {
  const schema = {
    $schema: DRAFT_07,
    $id: "#",
    properties: {
      total: { $id: "#/properties/total", type: "integer" },
      same: { $ref: "#/properties/total" },
    },
  };
  const [type] = await loadEventTypes(await aFolder(t, { "a.b.json": typeFile(schema, {}) }));
  assert.ok(type);
  assert.deepEqual(column(type.faultsOf({ total: "1", same: "1" }), "pointer"), [
    "/total",
    "/same",
  ]);
});

test("a pattern may name characters that no data has", async (t) => {
  const schema = { properties: { path: { type: "string", pattern: "^[^\0\ud800]+$" } } };
  const [type] = await loadEventTypes(await aFolder(t, { "a.b.json": typeFile(schema, {}) }));
  assert.ok(type);
  assert.deepEqual(column(type.faultsOf({ path: "" }), "pointer"), ["/path"]);
  assert.deepEqual(type.faultsOf({ path: "/home" }), []);
});

const REFUSED: [what: string, schema: object, fault: RegExp][] = [
  [
    "a keyword beside $ref",
    { properties: { a: { $ref: "#", maxItems: 1 } } },
    /properties\/a\/maxItems is ignored beside \$ref in draft-07/,
  ],
  [
    "a keyword of 2020-12",
    { unevaluatedProperties: false },
    /unevaluatedProperties is not known to draft-07/,
  ],
  [
    "another draft within it",
    { properties: { a: { $schema: "http://json-schema.org/draft-04/schema#" } } },
    /properties\/a\/\$schema must be/,
  ],
];

for (const [what, schema, fault] of REFUSED) {
  test(`a schema of draft-07 whose meaning differs is refused by one sentence: ${what}`, async (t) => {
    const file = typeFile({ $schema: DRAFT_07, type: "object", ...schema });
    const { faults } = await loadFolder(await aFolder(t, { "a.b.json": file }));
    assert.equal(faults.length, 1, JSON.stringify(faults));
    assert.match(faults[0]?.detail ?? "", fault);
  });
}

test("a keyword or a format that no vocabulary knows is a fault unless it is an annotation", async (t) => {
  const schema = {
    type: "object",
    "x-a.b": 1,
    tsType: 2,
    properties: { a: { format: "color", maxLenght: 3 } },
  };
  const folder = await aFolder(t, { "a.b.json": typeFile(schema) });
  const details = async (annotations: string[]) =>
    column((await loadFolder(folder, annotations)).faults, "detail");
  assert.deepEqual(await details([]), [
    'schema: unknown keyword: "tsType": correct it, or list it in EVENT_TYPES_ANNOTATIONS',
    'schema: unknown keyword: "maxLenght": correct it, or list it in EVENT_TYPES_ANNOTATIONS',
    'schema: unknown format: "color": correct it, or list it in EVENT_TYPES_ANNOTATIONS',
  ]);
  assert.deepEqual(await details(["tsType", "color", "maxLenght"]), []);
});

for (const [keyword, value, data, isValid] of [
  ["nullable", true, null, false], // of OpenAPI 3.0
  ["formatMinimum", "2026-01-01", "2025-01-01", true], // of a library
  ["id", "a", 1, false], // of draft-04
  ["$recursiveRef", "#", 1, false], // of 2019-09
] as const) {
  test(`${keyword} is not of 2020-12: a fault, and as an annotation without effect`, async (t) => {
    const schema = { properties: { a: { type: "string", format: "date", [keyword]: value } } };
    const folder = await aFolder(t, { "a.b.json": typeFile(schema, { a: "2026-01-01" }) });
    assert.deepEqual(column((await loadFolder(folder)).faults, "detail"), [
      `schema: unknown keyword: "${keyword}": correct it, or list it in EVENT_TYPES_ANNOTATIONS`,
    ]);
    const { types } = await loadFolder(folder, [keyword]);
    const faults = types[0]?.faultsOf({ a: data }) ?? assert.fail();
    assert.deepEqual(column(faults, "pointer"), isValid ? [] : ["/a"]);
  });
}

for (const $schema of [
  "https://json-schema.org/draft/2020-12/schema#",
  "http://json-schema.org/draft/2020-12/schema#",
]) {
  test(`${$schema} is read as 2020-12, as generators write it`, async (t) => {
    const file = typeFile({ $schema, dependentRequired: {} });
    const { types } = await loadFolder(await aFolder(t, { "a.b.json": file }));
    const { $schema: read } = types[0]?.schema as { $schema: string };
    assert.equal(read, "https://json-schema.org/draft/2020-12/schema");
  });
}

test("an example that reading would change is a fault", async (t) => {
  const file =
    '{"summary":"s","schema":{"maximum":18446744073709551615},"example":{"a":1e-400,"a":1}}';
  const { faults } = await loadFolder(await aFolder(t, { "a.b.json": file }));
  assert.equal(faults.length, 2, JSON.stringify(faults));
  assert.match(faults[0]?.detail ?? "", /^example\/a must be a number that a 64-bit float keeps/);
  assert.equal(faults[1]?.detail, "example/a must not occur twice");
});
