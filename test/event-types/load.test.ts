import assert from "node:assert/strict";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { loadEventTypes, loadFolder } from "../../src/event-types/load.ts";
import { createEventTypes } from "../../src/subjects/event-types/rules.ts";
import { column } from "../support/columns.ts";
import { aFolder, CUSTOMER, ORDER, typeFile } from "../support/event-types.ts";

test("a folder adds its types to the service's own, and faults of data have pointers", async (t) => {
  const folder = await aFolder(t, {
    "order.created.json": ORDER,
    "customer.changed.json": CUSTOMER,
  });
  const types = createEventTypes(await loadEventTypes(folder));
  assert.deepEqual(types.names, ["vc.test.ping", "customer.changed", "order.created"]);

  const order = types.find("order.created");
  assert.ok(order);
  assert.deepEqual(order.faultsOf(order.example), []);
  assert.deepEqual(order.faultsOf({ total: "much", customer: {}, lines: [{ sku: 7 }] }), [
    { pointer: "/total", detail: "must be an integer" },
    { pointer: "/customer/id", detail: "is required" },
    { pointer: "/lines/0/sku", detail: "must be a string" },
  ]);
});

test("a fault lists at most 20 places of an event's data, and contains no data", async (t) => {
  const schema = { type: "object", additionalProperties: { type: "integer" } };
  const folder = await aFolder(t, { "a.b.json": typeFile(schema) });
  const [type] = await loadEventTypes(folder);
  const data = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`m${i}`, "SECRET"]));
  const faults = type?.faultsOf(data) ?? [];
  assert.equal(faults.length, 20);
  assert.doesNotMatch(JSON.stringify(faults), /SECRET/);
});

test("a link that leads out of the folder is not read, and one within the folder is", async (t) => {
  const folder = await aFolder(t, {});
  const elsewhere = await aFolder(t, { secret: "what only root may read" });
  await symlink(join(elsewhere, "secret"), join(folder, "a.b.json"));
  await mkdir(join(folder, "..data")); // As orchestrators mount files.
  await writeFile(join(folder, "..data", "b.c.json"), JSON.stringify(typeFile({ type: "object" })));
  await symlink(join("..data", "b.c.json"), join(folder, "b.c.json"));
  const { types, faults } = await loadFolder(folder);
  assert.deepEqual(faults, [
    { file: "a.b.json", detail: "is a link that leads out of the folder" },
  ]);
  assert.deepEqual(column(types, "name"), ["b.c"]);
});

test("one message names every fault of every file", async (t) => {
  const folder = await aFolder(t, {
    "Order.json": "{no",
    "vc.mine.json": typeFile({ $schema: "http://json-schema.org/draft-04/schema#" }),
    "a.b.json": "[]",
    "b.c.json": { summary: "", extra: 1, schema: { type: "objekt" }, example: [] },
    "c.d.json": typeFile({ type: "object", propertis: {}, requird: [] }),
    "d.e.json": typeFile({ type: "object", properties: { x: { $ref: "no.such" } } }),
    "e.f.json": typeFile(
      { type: "object", properties: { n: { type: "integer" } }, required: ["n", "m"] },
      { n: "1" },
    ),
    "f.g.json": typeFile({ $async: true, type: "object" }),
    [`a.${"x".repeat(99)}.json`]: typeFile({ type: "object" }),
    "notes.txt": "",
    ".hidden": "",
    "README.md": "",
  });
  await mkdir(join(folder, "g.h.json"));

  const error = await loadEventTypes(folder).then(
    () => assert.fail("it loads"),
    (error: unknown) => error as Error,
  );
  const lines = error.message.split("\n  ");
  assert.equal(lines.shift(), `EVENT_TYPES ${folder}:`);
  const expected = [
    /^Order\.json: the name must be words/,
    /^Order\.json: is not valid JSON/,
    /^a\.b\.json: must be a JSON object/,
    /^a\.x+\.json: the name must have at most 100 characters/,
    /^b\.c\.json: unknown member extra/,
    /^b\.c\.json: summary must be one line/,
    /^b\.c\.json: example must be an object/,
    /^b\.c\.json: schema\/type must be one of array, /,
    /^b\.c\.json: schema\/type must be an array/,
    /^c\.d\.json: schema: unknown keyword: "propertis"/,
    /^c\.d\.json: schema: unknown keyword: "requird"/,
    /^d\.e\.json: schema: can't resolve reference no\.such/,
    /^e\.f\.json: example\/m is required/,
    /^e\.f\.json: example\/n must be an integer/,
    /^f\.g\.json: schema\/\$async is not supported/,
    /^g\.h\.json: is not a file/,
    /^notes\.txt: is not called <type>\.json/,
    /^vc\.mine\.json: the prefix vc\. is reserved/,
    /^vc\.mine\.json: schema\/\$schema must be .*2020-12/,
  ];
  for (const wanted of expected) {
    assert.equal(lines.filter((line) => wanted.test(line)).length, 1, String(wanted));
  }
  assert.equal(lines.length, expected.length, error.message);
});

test("a fault is reported for its own file, not for those that refer to it", async (t) => {
  const wrong = { type: "object", properties: { x: { type: "string", minimum: 1 } } };
  const folder = await aFolder(t, {
    "a.b.json": typeFile({ type: "object", properties: { x: { $ref: "z.y#/properties/x" } } }),
    "z.y.json": typeFile(wrong),
  });
  const { faults } = await loadFolder(folder);
  assert.deepEqual(column(faults, "file"), ["z.y.json"]);
});

test("a missing folder and a folder with too many files are faults", async (t) => {
  await assert.rejects(loadEventTypes("/nowhere/types"), /\/nowhere\/types:\n {2}cannot be read/);

  const large = await aFolder(t, { "a.b.json": " ".repeat(256 * 1024 + 1), "b.c.json": "\u0000" });
  await assert.rejects(loadEventTypes(large), /a\.b\.json: is larger than 256 KiB/);

  const names = Array.from({ length: 1001 }, (_, i) => [`a.n${i}.json`, "{}"] as const);
  const crowded = await aFolder(t, Object.fromEntries(names));
  await assert.rejects(loadEventTypes(crowded), /:\n {2}holds 1001 files, and at most 1000$/);
});

test("types refer to each other in a circle, by name, by file and by $id", async (t) => {
  const folder = await aFolder(t, {
    "a.b.json": typeFile(
      { type: "object", properties: { c: { $ref: "c.d.json" }, e: { $ref: "https://x.test/e" } } },
      { c: { a: {} } },
    ),
    "c.d.json": typeFile({ type: "object", properties: { a: { $ref: "a.b" } } }),
    "e.f.json": typeFile({ $id: "https://x.test/e", type: "object", required: ["n"] }, { n: 1 }),
  });
  const [first] = await loadEventTypes(folder);
  assert.deepEqual(first?.faultsOf({ c: { a: { c: 1 } }, e: {} }), [
    { pointer: "/c/a/c", detail: "must be an object" },
    { pointer: "/e/n", detail: "is required" },
  ]);
});

test("a multiple of a decimal fraction is found as a decimal", async (t) => {
  const member = (multipleOf: number) => ({ type: "number", multipleOf });
  const properties = {
    cents: member(0.01),
    tiny: member(1e-9),
    half: member(2.5),
    whole: member(5),
  };
  const example = { cents: 19.99, tiny: 1e-8, half: 7.5, whole: 15 };
  const folder = await aFolder(t, {
    "a.b.json": typeFile(
      { type: "object", properties: { ...properties, huge: { multipleOf: 1e308 } } },
      example,
    ),
  });
  const [type] = await loadEventTypes(folder);
  for (const cents of [0.07, 1.1, -4.35, 4.6, 123456789012.34, 0, -0, 1e15])
    assert.deepEqual(type?.faultsOf({ cents }), [], String(cents));
  assert.deepEqual(
    type?.faultsOf({ cents: 0.010000000001, tiny: 1e-10, half: 7, whole: 7.5, huge: 1 }),
    [
      { pointer: "/cents", detail: "must be a multiple of 0.01" },
      { pointer: "/tiny", detail: "must be a multiple of 1e-9" },
      { pointer: "/half", detail: "must be a multiple of 2.5" },
      { pointer: "/whole", detail: "must be a multiple of 5" },
      { pointer: "/huge", detail: "must be a multiple of 1e+308" },
    ],
  );
});
