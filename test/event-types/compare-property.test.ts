import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { compileTypes } from "../../src/event-types/compile.ts";
import { changes, define, object, type Schema, text } from "./schemas.ts";

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
      further: fc.oneof(
        fc.constant({}),
        fc.record({ additionalProperties: fc.oneof(fc.constant(false), leaf) }),
        fc.record({ unevaluatedProperties: fc.oneof(fc.constant(false), leaf) }),
      ),
    })
    .map(({ properties, required, further }) =>
      object(
        properties,
        required.filter((name) => name in properties),
        further,
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

/** The same schema with a new optional member in every open object. Such members may always be added. */
function extended(schema: Schema): Schema {
  const grown = Object.fromEntries(
    Object.entries((schema["properties"] ?? {}) as Record<string, Schema>).map(([name, member]) => [
      name,
      "properties" in member ? extended(member) : member,
    ]),
  );
  const isOpen = !("additionalProperties" in schema || "unevaluatedProperties" in schema);
  return { ...schema, properties: isOpen ? { ...grown, z: text } : grown };
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
  const { properties, required: names, ...further } = schema;
  const { [name]: old, ...others } = properties as Record<string, Schema>;
  const required = names as string[];
  const without = required.filter((one) => one !== name);
  const same = old === undefined ? {} : { [name]: old };
  switch (how) {
    case "drop":
      return object(others, without, further);
    case "replace":
      return object({ ...others, [name]: member }, required, further);
    case "require":
      return object({ ...others, [name]: old ?? member }, [...without, name], further);
    case "relax":
      return object({ ...others, ...same }, without, further);
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
