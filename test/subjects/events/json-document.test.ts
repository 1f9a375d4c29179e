import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Fault } from "../../../src/lib/errors.ts";
import {
  faultOfNumber,
  faultsOfJson as check,
} from "../../../src/subjects/events/json-document.ts";

function faultsOfJson(text: string, bounds: Parameters<typeof check>[1]): Fault[] {
  const steps = check(text, bounds);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

const BOUNDS = { depthMax: 100, faultsMax: 1_000 };

/** A JSON value as text. Members may occur twice, and names may contain escapes. */
type Written =
  | { kind: "scalar"; text: string }
  | { kind: "array"; items: Written[] }
  | { kind: "object"; members: [name: string, value: Written][] };

const NAMES = ["a", "b", "", "0", "constructor", "__proto__", "a/b", "~", '"', "\\", "ü", "\u2028"];

const scalar = fc
  .oneof(
    fc.constantFrom("true", "false", "null", "0", "-0", "-1.5e-3", "1E2", "9007199254740991"),
    fc.string({ unit: "binary" }).map((text) => JSON.stringify(text)),
    fc.constantFrom('"{[,]}"', '"\\\\"', '"\\""', '"\\\\\\""', '":"'),
    fc.constantFrom("9007199254740992", "-1e16", "1e999", "1e-400"),
    fc.constantFrom("0.1234567890123456789", "123456789012345.123456", "1.000000000000000000"),
    fc.constantFrom('"\\u0000"', '"\\ud800"'),
  )
  .map((text): Written => ({ kind: "scalar", text }));

const { value } = fc.letrec<{ value: Written }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    scalar,
    fc.array(tie("value"), { maxLength: 4 }).map((items): Written => ({ kind: "array", items })),
    fc
      .array(fc.tuple(fc.constantFrom(...NAMES), tie("value")), { maxLength: 5 })
      .map((members): Written => ({ kind: "object", members })),
  ),
}));

function write(one: Written, space: string): string {
  switch (one.kind) {
    case "scalar":
      return one.text;
    case "array":
      return `[${space}${one.items.map((item) => write(item, space)).join(`${space},${space}`)}]`;
    case "object": {
      const members = one.members.map(
        ([name, inner], i) => `${nameText(name, i)}${space}:${space}${write(inner, space)}`,
      );
      return `{${members.join(`,${space}`)}${space}}`;
    }
  }
}

/** Every other one with its first character as an escape. */
function nameText(name: string, i: number): string {
  if (name === "" || i % 2 === 0) return JSON.stringify(name);
  const first = `\\u${name.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return `"${first}${JSON.stringify(name.slice(1)).slice(1)}`;
}

/** Compares two decimal numbers by integers of any size. */
function isSameNumber(one: string, other: string): boolean {
  const [a, b] = [partsOf(one), partsOf(other)];
  const least = Math.min(a.power, b.power);
  const scaled = ({ digits, power }: typeof a) => digits * 10n ** BigInt(power - least);
  return scaled(a) === scaled(b);
}

function partsOf(written: string): { digits: bigint; power: number } {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([-+]?\d+))?$/i.exec(written) ?? [];
  return { digits: BigInt(sign + whole + fraction), power: Number(exponent) - fraction.length };
}

/** The places of the faults, found in the intended value instead of its text. */
function expected(one: Written, at = ""): string[] {
  if (one.kind === "scalar") {
    const read = JSON.parse(one.text) as unknown;
    const isLost =
      typeof read === "number"
        ? Math.abs(read) > Number.MAX_SAFE_INTEGER || !isSameNumber(one.text, String(read))
        : typeof read === "string" && (read.includes("\0") || /\p{Cs}/u.test(read));
    return isLost ? [at] : [];
  }
  if (one.kind === "array") return one.items.flatMap((item, i) => expected(item, `${at}/${i}`));
  return one.members.flatMap(([name, inner], i) => {
    const pointer = `${at}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    const isSecond = one.members.findIndex(([other]) => other === name) < i;
    return [...(isSecond || name === "__proto__" ? [pointer] : []), ...expected(inner, pointer)];
  });
}

test("all faults of a JSON document are found at their places", () => {
  fc.assert(
    fc.property(value, fc.constantFrom("", " ", "\n\t"), (written, space) => {
      const text = write(written, space);
      JSON.parse(text);
      const found = faultsOfJson(text, BOUNDS).map((fault) => fault.pointer);
      assert.deepEqual([...new Set(found)], [...new Set(expected(written))], text);
    }),
    { numRuns: 2_000 },
  );
});

test("the output of JSON.stringify has no faults, and parses to the same value", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), (any) => {
      const text = JSON.stringify(any);
      const isHarmless = !/\\u0000|\\ud[89a-f]|__proto__|[1-9]\d{15}|e\+/i.test(text);
      if (isHarmless) assert.deepEqual(faultsOfJson(text, BOUNDS), [], text);
    }),
    { numRuns: 2_000 },
  );
});

test("a value that is too deep is one fault, and nothing within it is checked", () => {
  const at = (depth: number) => `${"[".repeat(depth)}1e999,"\\u0000"${"]".repeat(depth)}`;
  assert.deepEqual(faultsOfJson(`[${at(2)},${at(1)}]`, { depthMax: 2, faultsMax: 10 }), [
    { pointer: "/0/0", detail: "is nested too deeply: remove levels of objects and arrays" },
    { pointer: "/1/0", detail: "must be a number from -(2^53 - 1) to 2^53 - 1" },
    { pointer: "/1/1", detail: "must not contain the character U+0000" },
  ]);
});

test("the number of reported faults is bounded", () => {
  const text = `[${Array.from({ length: 50 }, () => "1e999").join()}]`;
  assert.equal(faultsOfJson(text, { depthMax: 5, faultsMax: 7 }).length, 7);
});

test("a fault at a member with a long name is reported with the beginning of the name", () => {
  const [long, twin] = ["x".repeat(101), `${"x".repeat(100)}y`];
  const body = (name: string) => `{"data":{"${name}":1e999,"${name}":1}}`;
  const pointersOf = (text: string) => faultsOfJson(text, BOUNDS).map(({ pointer }) => pointer);
  const told = [`/data/${"x".repeat(100)}…`, `/data/${"x".repeat(100)}…`];
  assert.deepEqual(pointersOf(body(long)), told);
  assert.deepEqual(pointersOf(body(twin)), told);
  assert.deepEqual(
    pointersOf(body("x".repeat(100))),
    told.map((one) => one.slice(0, -1)),
  );
});

test("a pointer does not grow with the depth of the fault", () => {
  const deep = `{"${"x".repeat(100)}":`.repeat(99) + "1e999" + "}".repeat(99);
  const [fault] = faultsOfJson(deep, BOUNDS);
  assert.ok(fault && fault.pointer.length < 2_200, `${fault?.pointer.length ?? 0} characters`);
});

test("a long text is read in steps of 10,000 characters", () => {
  const text = JSON.stringify(Array.from({ length: 25_000 }, () => 1)); // A digit and a comma each.
  let yields = 0;
  for (const steps = check(text, BOUNDS); !steps.next().done;) yields++;
  assert.equal(yields, 5);
});

test("a number is accepted if and only if what JavaScript writes of it is the same decimal number", () => {
  for (const [written, isKept] of NUMBERS) {
    assert.equal(faultOfNumber(written) === null, isKept, written);
  }
  const digits = fc.stringMatching(/^(0|[1-9]\d{0,17})$/);
  const numbers = fc.tuple(
    fc.constantFrom("", "-"),
    digits,
    fc.oneof(fc.constant(""), fc.stringMatching(/^\.\d{1,22}$/)),
    fc.oneof(fc.constant(""), fc.stringMatching(/^[eE][-+]?\d{1,3}$/)),
  );
  fc.assert(
    fc.property(numbers, (parts) => {
      const written = parts.join("");
      const read = JSON.parse(written) as number;
      const isKept =
        Math.abs(read) <= Number.MAX_SAFE_INTEGER && isSameNumber(written, JSON.stringify(read));
      assert.equal(faultOfNumber(written) === null, isKept, written);
    }),
    { numRuns: 5_000 },
  );
});

const NUMBERS: [written: string, isKept: boolean][] = [
  ["-0", true],
  ["-0.0e5", true],
  ["1.10", true],
  ["1E2", true],
  ["0.1", true],
  ["5e-324", true],
  ["2.2250738585072014e-308", true],
  ["9007199254740991", true],
  ["9007199254740991.0", true],
  ["0.10000000000000000000000000", true],
  [`0.${"0".repeat(400)}1e401`, true],
  ["0e999999999999", true],
  ["9007199254740993", false],
  ["4503599627370497.25", false],
  ["123456789012345.123456", false],
  ["0.1234567890123456789", false],
  ["0.1000000000000000055511151231257827", false],
  ["1e-400", false],
  ["4e-324", false],
  ["1e400", false],
];
