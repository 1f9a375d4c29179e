import assert from "node:assert/strict";
import { test } from "node:test";
import { findBreakingChanges } from "../../src/event-types/compare.ts";
import { changes, define, object, type Schema, text } from "./schemas.ts";

/** An object with this member `a`. */
const a = (member: Schema) => object({ a: member });
const required = object({ a: text }, ["a"]);
const line = (more: Schema = {}) => object({ sku: { ...text, ...more } });

const REFUSED: [what: string, before: Schema, after: Schema, said: RegExp][] = [
  ["a member removed", a(text), object({}), /^\/a: the member is removed$/],
  ["no longer required", required, a(text), /^\/a: the member is no longer required$/],
  ["newly required", a(text), required, /^\/a: the member becomes required/],
  ["a new required member", object({}), required, /^\/a: the new member is required/],
  ["required without a schema", object({}), object({}, ["a"]), /^\/a: the new member is required/],
  [
    "a type narrowed",
    a({ type: ["string", "null"] }),
    a(text),
    /^\/a: the type is narrower: it was string or null and is string$/,
  ],
  ["a type widened", a({ type: "integer" }), a({ type: "number" }), /^\/a: the type is wider/],
  [
    "number narrowed to integer",
    a({ type: "number" }),
    a({ type: "integer" }),
    /^\/a: the type is narrower/,
  ],
  ["a type changed", a(text), a({ type: "integer" }), /^\/a: the type changes/],
  ["a removed type", a(text), a({}), /^\/a: type is removed: .* "string"$/],
  ["an enum extended", a({ enum: ["x"] }), a({ enum: ["x", "y"] }), /^\/a: the enum gains y$/],
  ["an enum reduced", a({ enum: ["x", "y"] }), a({ enum: ["y"] }), /^\/a: the enum loses x$/],
  [
    "a bound changed",
    a({ ...text, maxLength: 9 }),
    a({ ...text, maxLength: 10 }),
    /^\/a: maxLength changes: it was 9 and is 10$/,
  ],
  ["a new format", a(text), a({ ...text, format: "uuid" }), /^\/a: format is added/],
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
    /the number of subschemas changes: it was 1/,
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
  [
    "a new optional member in a closed object",
    object({ l: object({}, [], { additionalProperties: false }) }),
    object({ l: object({ n: text }, [], { additionalProperties: false }) }),
    /^\/l\/n: the member is new, and the older schema may refuse it \(additionalProperties: false\)$/,
  ],
  [
    "a new optional member that is not as the older schema wants further ones",
    object({}, [], { additionalProperties: { type: "integer" } }),
    object({ n: text }, [], { additionalProperties: { type: "integer" } }),
    /^\/n: the member is new, and the older schema may refuse it \(additionalProperties: \{"type":"integer"\}\)$/,
  ],
  [
    "a new optional member in a part of an object without unevaluated members",
    { allOf: [object({})], unevaluatedProperties: false },
    { allOf: [object({ n: text })], unevaluatedProperties: false },
    /^\/n: the member is new, and the older schema may refuse it \(unevaluatedProperties: false\)$/,
  ],
  ["not", { not: { required: ["a"] } }, { not: { required: ["b"] } }, /^not changes/],
  [
    "behind a $ref",
    object({ l: { $ref: "#/$defs/l" } }, [], { $defs: { l: line() } }),
    object({ l: { $ref: "#/$defs/l" } }, [], { $defs: { l: line({ minLength: 1 }) } }),
    /^\/l\/sku: minLength is added: 1$/,
  ],
  ...[{ $anchor: "l" }, { $id: "https://example.com/l" }].map(
    (name): [string, Schema, Schema, RegExp] => {
      const $ref = name.$id ?? "#l";
      const typed = (further: Schema) =>
        object({ l: { $ref } }, [], { $defs: { l: { ...name, ...line(further) } } });
      return [
        `behind ${$ref}`,
        typed({}),
        typed({ minLength: 1 }),
        /^\/l\/sku: minLength is added: 1$/,
      ];
    },
  ),
  [
    "what a member called title requires",
    object({ title: text, n: text }, [], { dependentRequired: { title: ["n"] } }),
    object({ title: text, n: text }, [], { dependentRequired: {} }),
    /^dependentRequired changes/,
  ],
  ["a member called x-a", object({ "x-a": text }), object({}), /^\/x-a: the member is removed$/],
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
  [
    "a new optional member as the older schema wants further ones",
    object({}, [], { additionalProperties: text }),
    object({ n: text }, [], { additionalProperties: text }),
  ],
  [
    "a new optional member whose name a pattern of a closed object permits",
    object({}, [], { patternProperties: { "^x-": text }, additionalProperties: false }),
    object({ "x-n": text }, [], {
      patternProperties: { "^x-": text },
      additionalProperties: false,
    }),
  ],
  [
    "a new optional member deep down in an object without unevaluated members",
    object({ l: line() }, [], { unevaluatedProperties: false }),
    object({ l: object({ sku: text, n: text }) }, [], { unevaluatedProperties: false }),
  ],
  ["an annotation", object({ a: { ...text, "x-old": 1 } }), object({ a: { ...text, "x-new": 2 } })],
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

test("a keyword that is listed as an annotation may come and go", () => {
  const [older, newer] = [object({ a: text }), object({ a: { ...text, unit: "cm" } })].map(
    (one) => [define(one)],
  );
  assert.deepEqual(findBreakingChanges(older ?? [], newer ?? [], ["unit"]), []);
});

test("a change in another type's file is found through a $ref", () => {
  const user = define(object({ c: { $ref: "c.d.json#/$defs/c" } }), "a.b");
  const older = define({ $defs: { c: line() } }, "c.d");
  const newer = define({ $defs: { c: object({}) } }, "c.d");
  assert.deepEqual(findBreakingChanges([user, older], [user, newer]), [
    { file: "a.b.json", detail: "/c/sku: the member is removed" },
  ]);
});
