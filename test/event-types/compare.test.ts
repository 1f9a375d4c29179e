import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { compileTypes } from "../../src/event-types/compile.ts";
import { findBreakingChanges } from "../../src/event-types/compare.ts";
import type { Definition } from "../../src/event-types/definition.ts";

type Schema = Record<string, unknown>;

const define = (schema: Schema, name = "a.b"): Definition => ({
  name,
  summary: "Something happened",
  schema,
  example: {},
});
const changes = (before: Schema, after: Schema): string[] =>
  findBreakingChanges([define(before)], [define(after)]).map(({ detail }) => detail);

const object = (properties: Schema, required: string[] = [], further: Schema = {}): Schema => ({
  type: "object",
  properties,
  required,
  ...further,
});
const text = { type: "string" };
const line = (more: Schema = {}) => object({ sku: { ...text, ...more } });

const REFUSED: [what: string, before: Schema, after: Schema, said: RegExp][] = [
  ["a member removed", object({ a: text }), object({}), /^\/a: the member is removed$/],
  [
    "no longer required",
    object({ a: text }, ["a"]),
    object({ a: text }),
    /^\/a: the member is no longer required$/,
  ],
  [
    "newly required",
    object({ a: text }),
    object({ a: text }, ["a"]),
    /^\/a: the member becomes required/,
  ],
  [
    "a new required member",
    object({}),
    object({ a: text }, ["a"]),
    /^\/a: the new member is required/,
  ],
  ["required without a schema", object({}), object({}, ["a"]), /^\/a: the new member is required/],
  [
    "a type narrowed",
    object({ a: { type: ["string", "null"] } }),
    object({ a: text }),
    /^\/a: the type is narrower: it was string or null and is string$/,
  ],
  [
    "a type widened",
    object({ a: { type: "integer" } }),
    object({ a: { type: "number" } }),
    /^\/a: the type is wider/,
  ],
  [
    "number narrowed to integer",
    object({ a: { type: "number" } }),
    object({ a: { type: "integer" } }),
    /^\/a: the type is narrower/,
  ],
  [
    "a type changed",
    object({ a: text }),
    object({ a: { type: "integer" } }),
    /^\/a: the type changes/,
  ],
  ["a removed type", object({ a: text }), object({ a: {} }), /^\/a: type is removed: .* "string"$/],
  [
    "an enum extended",
    object({ a: { enum: ["x"] } }),
    object({ a: { enum: ["x", "y"] } }),
    /^\/a: the enum gains y$/,
  ],
  [
    "an enum reduced",
    object({ a: { enum: ["x", "y"] } }),
    object({ a: { enum: ["y"] } }),
    /^\/a: the enum loses x$/,
  ],
  [
    "a bound changed",
    object({ a: { ...text, maxLength: 9 } }),
    object({ a: { ...text, maxLength: 10 } }),
    /^\/a: maxLength changes: it was 9 and is 10$/,
  ],
  [
    "a new format",
    object({ a: text }),
    object({ a: { ...text, format: "uuid" } }),
    /^\/a: format is added/,
  ],
  [
    "a nested member",
    object({ l: { type: "array", items: line() } }),
    object({ l: { type: "array", items: object({}) } }),
    /^\/l\/\*\/sku: the member is removed$/,
  ],
  [
    "an additional alternative",
    { anyOf: [text] },
    { anyOf: [text, { type: "null" }] },
    /there were 1 alternatives/,
  ],
  [
    "within an alternative",
    { oneOf: [line()] },
    { oneOf: [object({})] },
    /^\/sku: the member is removed$/,
  ],
  [
    "closed objects opened",
    object({}, [], { additionalProperties: false }),
    object({}),
    /^additionalProperties is removed/,
  ],
  ["not", { not: { required: ["a"] } }, { not: { required: ["b"] } }, /^not changes/],
  [
    "behind a $ref",
    object({ l: { $ref: "#/$defs/l" } }, [], { $defs: { l: line() } }),
    object({ l: { $ref: "#/$defs/l" } }, [], { $defs: { l: line({ minLength: 1 }) } }),
    /^\/l\/sku: minLength is added: 1$/,
  ],
  [
    "an anchor",
    object({ l: { $ref: "#l" } }, [], { $defs: { l: { $anchor: "l", ...line() } } }),
    object({ l: { $ref: "#l" } }, [], { $defs: { l: { $anchor: "l" } } }),
    /\$ref #l cannot be compared/,
  ],
  ["a member called type", object({ type: text }), object({}), /^\/type: the member is removed$/],
  ["a name with a slash", object({ "a/b": text }), object({}), /^\/a~1b: the member is removed$/],
];

for (const [what, before, after, said] of REFUSED) {
  test(`refused: ${what}`, () => {
    const found = changes(before, after);
    assert.equal(found.length, 1, found.join("\n"));
    assert.match(found[0] ?? "", said);
  });
}

const node = (more: Schema = {}) => ({
  ...object({ up: { $ref: "#" }, ...more }),
});
const PASSED: [what: string, before: Schema, after: Schema][] = [
  ["no change", object({ a: text }, ["a"]), object({ a: text }, ["a"])],
  ["a new optional member", object({ a: text }), object({ a: text, b: text })],
  [
    "a new optional member deep down",
    object({ l: line() }),
    object({ l: object({ sku: text, n: text }) }),
  ],
  ["a description", object({ a: text }), object({ a: { ...text, description: "Text." } })],
  [
    "an order",
    object({ a: { enum: ["x", "y"] }, b: text }, ["a", "b"]),
    object({ b: text, a: { enum: ["y", "x"] } }, ["b", "a"]),
  ],
  [
    "a part moved to a $ref",
    object({ l: line() }),
    object({ l: { $ref: "#/$defs/l" } }, [], { $defs: { l: line() } }),
  ],
  ["a circle", node(), node()],
  ["a new optional member in a circle", node(), node({ n: text })],
];

for (const [what, before, after] of PASSED) {
  test(`passes: ${what}`, () => assert.deepEqual(changes(before, after), []));
}

test("a removed type is a breaking change, and a new type is not", () => {
  const [a, b] = [define({}, "a.b"), define({}, "b.c")];
  assert.deepEqual(findBreakingChanges([a], [b]), [
    { file: "a.b.json", detail: "the type is removed" },
  ]);
  assert.deepEqual(findBreakingChanges([a], [a, b]), []);
});

test("a change in another type's file is found through a $ref", () => {
  const user = define(object({ c: { $ref: "c.d.json#/$defs/c" } }), "a.b");
  const older = define({ $defs: { c: line() } }, "c.d");
  const newer = define({ $defs: { c: object({}) } }, "c.d");
  assert.deepEqual(findBreakingChanges([user, older], [user, newer]), [
    { file: "a.b.json", detail: "/c/sku: the member is removed" },
  ]);
});

const leaf = fc.constantFrom<Schema[]>(
  { type: "string" },
  { type: "integer" },
  { type: "number" },
  { type: ["string", "null"] },
  { type: "integer", minimum: 3 },
  { type: "string", maxLength: 2 },
  { enum: ["x", 1] },
  { enum: ["x", 1, null] },
);
const { schema: anySchema } = fc.letrec<{ schema: Schema; member: Schema }>((tie) => ({
  member: fc.oneof(
    { maxDepth: 2 },
    leaf,
    tie("schema"),
    tie("schema").map((items) => ({ type: "array", items })),
  ),
  schema: fc
    .record({
      properties: fc.dictionary(fc.constantFrom("a", "b", "c"), tie("member"), { maxKeys: 3 }),
      required: fc.uniqueArray(fc.constantFrom("a", "b", "c"), { maxLength: 2 }),
    })
    .map(({ properties, required }) =>
      object(
        properties,
        required.filter((name) => name in properties),
      ),
    ),
}));
const anyValue = fc.letrec<{ value: unknown; object: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<unknown[]>("", "x", "xyz", 1, 2.5, 7, null),
    tie("object"),
    fc.array(tie("value"), { maxLength: 2 }),
  ),
  object: fc.dictionary(fc.constantFrom("a", "b", "c"), tie("value"), { maxKeys: 3 }),
})).object;

/** The same schema with new optional members at every level. Such members may always be added. */
function extended(schema: Schema): Schema {
  const grown = Object.fromEntries(
    Object.entries((schema["properties"] ?? {}) as Record<string, Schema>).map(([name, member]) => [
      name,
      "properties" in member ? extended(member) : member,
    ]),
  );
  return { ...schema, properties: { ...grown, z: text } };
}

const anyEdit = fc.record({
  name: fc.constantFrom("a", "b", "c"),
  how: fc.constantFrom("drop", "replace", "require", "relax", "keep"),
  member: leaf,
});

/** The schema with one changed member. The change may have no effect. */
function edited(
  schema: Schema,
  { name, how, member }: { name: string; how: string; member: Schema },
) {
  const { [name]: old, ...others } = schema["properties"] as Record<string, Schema>;
  const required = schema["required"] as string[];
  const without = required.filter((one) => one !== name);
  const same = old === undefined ? {} : { [name]: old };
  switch (how) {
    case "drop":
      return object(others, without);
    case "replace":
      return object({ ...others, [name]: member }, required);
    case "require":
      return object({ ...others, [name]: old ?? member }, [...without, name]);
    case "relax":
      return object({ ...others, ...same }, without);
    default:
      return extended(schema);
  }
}

test("after a passed check a receiver of the older version accepts all data of the newer version", async () => {
  let passed = 0;
  await fc.assert(
    fc.asyncProperty(
      anySchema,
      anyEdit,
      fc.array(anyValue, { minLength: 40, maxLength: 40 }),
      async (before, edit, values) => {
        const after = edited(before, edit);
        if (edit.how === "keep") assert.deepEqual(changes(before, after), []);
        if (changes(before, after).length > 0) return;
        passed++;
        const types = await compileTypes([define(before, "a.b"), define(after, "c.d")], []);
        assert.equal(types.length, 2);
        for (const value of values) {
          const [old, now] = types.map(({ faultsOf }) => faultsOf(value).length === 0);
          assert.ok(now !== true || old === true, JSON.stringify(value));
        }
      },
    ),
    { numRuns: 200 },
  );
  assert.ok(passed > 20);
});
