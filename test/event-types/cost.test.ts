import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { compileTypes } from "../../src/event-types/compile.ts";
import { costsOf, stepsOf } from "../../src/event-types/cost.ts";
import { patternCosts } from "../../src/event-types/pattern-cost.ts";
import type { Fault } from "../../src/lib/errors.ts";
import { createEventTypes } from "../../src/subjects/event-types/rules.ts";
import { createDatabase } from "../support/database.ts";
import { aPublisherApi } from "../support/publisher-api.ts";
import { define, object, type Schema } from "./schemas.ts";

const db = await createDatabase();
const costOfPattern = await patternCosts();

async function aTypeWith(schema: Schema) {
  const faults: object[] = [];
  const [type] = await compileTypes([define(schema)], faults as never);
  assert.deepEqual(faults, []);
  assert.ok(type?.check);
  return { ...type, check: type.check };
}

/** The deadline of a check, of which tests wait a tenth. */
const DEADLINE_MS = 5_000;

function shortenDeadline(t: TestContext): void {
  const { setTimeout } = globalThis;
  const start = (work: () => void, ms?: number) =>
    setTimeout(work, ms === DEADLINE_MS ? DEADLINE_MS / 10 : ms);
  t.mock.method(globalThis, "setTimeout", start);
}

/** Publishes an event of a type with this schema, and returns the answer and the longest pause of this thread. */
async function publish(t: TestContext, schema: Schema, data: object) {
  const type = await aTypeWith(schema);
  const api = await aPublisherApi(t, db, createEventTypes([type]));
  await api.post({ organization: api.slug, type: "a.b", data: {} }); // Connects, and compiles the code.
  let [last, longest] = [performance.now(), 0];
  const watch = setInterval(() => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }, 1);
  const answer = await api.post({ organization: api.slug, type: "a.b", data });
  clearInterval(watch);
  return { answer, longest };
}

const UNIQUE = object({ list: { type: "array", uniqueItems: true, items: { type: "object" } } });
const objects = Array.from({ length: 17_000 }, (_, n) => ({ n }));

test("unique items are compared in linear time, and others do not wait", async (t) => {
  const { answer, longest } = await publish(t, UNIQUE, { list: objects });
  assert.equal(answer.status, 202, answer.text);
  // It took six seconds. Parsing and writing the event takes some milliseconds, many times that on a busy machine.
  assert.ok(longest < 500, `${longest} ms`);
});

test("many unique items and many multiples of a fraction are left to the other thread, and as many others are not", async () => {
  const [unique, cents] = [{ uniqueItems: true }, { items: { multipleOf: 0.01 } }];
  const lists = [unique, cents, {}].map((list) => ({ type: "array", ...list }));
  const types = await Promise.all(lists.map((list) => aTypeWith(object({ list }))));
  const said = types.map(({ check }) => check.accepts({ list: [] }, 60_000));
  assert.deepEqual(said, [null, null, true]);
});

test("an item that occurs twice is found, in any order of its members", async () => {
  const { faultsOf } = await aTypeWith(object({ list: { uniqueItems: true } }));
  const faults = [{ pointer: "/list", detail: "must not contain an item twice" }];
  assert.deepEqual(
    faultsOf({
      list: [
        { a: 1, b: [2] },
        { b: [2], a: 1 },
      ],
    }),
    faults,
  );
  assert.deepEqual(
    faultsOf({ list: [1, "1", [1], ["1"], { 1: 1 }, null, "null", true, 0, -1] }),
    [],
  );
  assert.deepEqual(faultsOf({ list: [0, -0] }), faults);
});

const nest = (depth: number): object =>
  Array.from({ length: depth }).reduce<object>((inner) => ({ next: inner }), {});
const either = (name: string) => ({
  properties: { next: { $ref: "#/$defs/n" } },
  required: [name],
});

/** Each would stop the thread for seconds to years. */
const COSTLY: [what: string, schema: Schema, data: object][] = [
  ["a pattern that backtracks", object({ a: { pattern: "^(a+)+$" } }), { a: `${"a".repeat(40)}!` }],
  [
    "a name's pattern",
    { type: "object", patternProperties: { "(a*)*b": {} } },
    { ["a".repeat(40)]: 1 },
  ],
  [
    "a schema that leads back to itself twice",
    { $ref: "#/$defs/n", $defs: { n: { anyOf: [either("q"), either("z")] } } },
    nest(60),
  ],
];

for (const [what, schema, data] of COSTLY) {
  test(`a check that does not end is a fault, and others do not wait: ${what}`, async (t) => {
    shortenDeadline(t);
    const { answer, longest } = await publish(t, schema, data);
    assert.equal(answer.status, 422, answer.text);
    const { errors } = answer.body as { errors: Fault[] };
    assert.deepEqual(
      errors.map(({ pointer }) => pointer),
      ["/data"],
    );
    assert.match(errors[0]?.detail ?? "", /^takes more than 5 s to check/);
    assert.ok(longest < 500, `${longest} ms`);
  });
}

test("after a check that did not end, the next events are checked", async (t) => {
  shortenDeadline(t);
  const { check } = await aTypeWith(object({ a: { type: "string", pattern: "^(a+)+$" } }));
  const slow = check.faultsApart(JSON.stringify({ a: `${"a".repeat(40)}!` }));
  const next = check.faultsApart('{"a":1}');
  assert.equal((await slow).length, 1);
  assert.deepEqual(await next, [{ pointer: "/a", detail: "must be a string" }]);
});

test("small data of an ordinary schema is checked at once, and costly data is not", async () => {
  const { check } = await aTypeWith(ORDINARY);
  const data = { id: "ord-1-b", at: "2026-01-01T00:00:00Z", lines: [{ sku: "a" }], mail: "a@b.c" };
  assert.equal(check.accepts(data, JSON.stringify(data).length), true);
  assert.equal(check.accepts({ lines: [{}] }, 12), false);
  assert.equal(check.accepts(data, 256 * 1024), null);
});

const ORDINARY = object(
  {
    id: { type: "string", pattern: "^[a-z0-9]+(?:-[a-z0-9]+)*$" },
    at: { type: "string", format: "date-time" },
    mail: { type: "string", pattern: "^[^@\\s]+@[^@\\s]+\\.[^@\\s]+$" },
    lines: { type: "array", items: object({ sku: { type: "string" } }, ["sku"]) },
  },
  ["id"],
);

test("a check that needs more stack than is left is no error, but left to the other thread", async () => {
  const { check } = await aTypeWith(ORDINARY);
  const data = { id: "ord-1", lines: [{ sku: "a" }] };
  const atTheEndOfTheStack = (): boolean | null => {
    try {
      return atTheEndOfTheStack();
    } catch {
      return check.accepts(data, 1);
    }
  };
  assert.equal(atTheEndOfTheStack(), null);
  assert.equal(check.accepts(data, 1), true);
});

test("a reference that leads to itself for the same value is a fault of the file", async () => {
  for (const n of [{ $ref: "#/$defs/n" }, { allOf: [{ not: { $ref: "#/$defs/n" } }] }]) {
    const faults: { detail: string }[] = [];
    await compileTypes([define({ $ref: "#/$defs/n", $defs: { n } })], faults as never);
    assert.match(faults[0]?.detail ?? "", /leads to itself for the same value/);
  }
});

test("a schema's cost is a bound of its steps", () => {
  const steps = (schema: Schema, length: number) =>
    stepsOf(
      costsOf({ root: schema, n: TREE, twice: TWICE }, costOfPattern)("#/$defs/root"),
      length,
    );
  const thousand = Array.from({ length: 1_000 }, (_, i) => ({ const: i }));
  assert.ok(steps({ items: { anyOf: thousand } }, 1_000) > 1_000_000);
  assert.ok(steps({ items: { enum: thousand } }, 1_000) > 500_000);
  assert.ok(steps({ properties: { a: { enum: thousand } } }, 1_000) < 10_000);
  assert.ok(steps({ $ref: "#/$defs/n" }, 1_000) < 20_000);
  assert.equal(steps({ $ref: "#/$defs/twice" }, 10), Infinity);
  assert.ok(steps({ items: { pattern: "a*b" } }, 1_000) > 1_000_000);
  assert.ok(steps({ items: { pattern: "a*b", maxLength: 10 } }, 1_000) < 50_000);
});

const TREE = { properties: { left: { $ref: "#/$defs/n" }, right: { $ref: "#/$defs/n" } } };
const TWICE = { allOf: [1, 2].map(() => ({ properties: { next: { $ref: "#/$defs/twice" } } })) };

test("the cost of a pattern grows with its choices", () => {
  const degrees = PATTERNS.map(([pattern]) => [pattern, costOfPattern(pattern).degree]);
  assert.deepEqual(degrees, PATTERNS);
});

const PATTERNS: [pattern: string, degree: number][] = [
  ["^ord_[0-9]+$", 1],
  ["^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$", 1],
  ["[A-Z]{3}", 1],
  ["^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}(\\.\\d+)?Z$", 1],
  ["a*b", 2],
  ["^[a-z]+[0-9]*$", 2],
  ["^[a-z]+:[^:]+$", 1],
  ["^[a-z0-9]+(?:-[a-z0-9]+)*$", 2],
  ["^\\w+\\s?\\w+\\s?\\w+$", 3],
  ["^(a+)+$", Infinity],
  ["^(a|aa)+$", Infinity],
  ["^(-a*-a*)*$", Infinity],
  ["(.)\\1", Infinity],
  ["^(a?){70}$", Infinity],
];
