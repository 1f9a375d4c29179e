import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ROOT } from "../support/root.ts";

const read = (path: string) => readFileSync(join(ROOT, path), "utf8");

/** Each constant that a row names, and what the row says of it. */
const BOUNDS = read("docs/bounds.md")
  .split("\n")
  .filter((line) => line.startsWith("| "))
  .flatMap((row) => {
    const [, said = ""] = row.split(" | ");
    return Array.from(row.matchAll(/((?:`[^`]+`,? ?)+) in `(src\/[^`]+)`/g)).flatMap(
      ([, names = "", path = ""]) =>
        Array.from(names.matchAll(/`([^`]+)`/g), ([, name = ""]) => ({ name, path, said })),
    );
  });

const FACTORS: Record<string, number> = {
  ...{ KiB: 1024, MiB: 1024 ** 2, kB: 1_000, "%": 0.01 },
  ...{ s: 1_000, min: 60_000, minute: 60_000, h: 3_600_000, second: 1_000 },
};

const FRACTIONS = { half: 2, quarter: 4, eighth: 8, tenth: 10, twentieth: 20 };

/** Returns the numbers that a text names, in bytes and milliseconds, and as they stand. */
function numbersIn(text: string): number[] {
  const counted = text.replace(/\b(?:one|an?) (?=minute|second)/g, "1 ").replace(/\bone\b/g, "1");
  const numbers = Array.from(
    counted.matchAll(/(\d[\d,]*(?:\.\d+)?) ?(KiB|MiB|kB|%|s\b|min\b|minute|h\b|second)?/g),
    ([, digits = "", unit = ""]) => {
      const number = Number(digits.replaceAll(",", ""));
      return [number, number * (FACTORS[unit] ?? 1)];
    },
  );
  const parts = Object.entries(FRACTIONS).flatMap(([word, part]) =>
    text.includes(word) ? [part, 1 / part] : [],
  );
  return [...numbers.flat(), ...parts];
}

/** Returns the value of a constant that is a number, a product or a fraction. Null for any other. */
function valueOf({ name, path }: { name: string; path: string }): number | null {
  const [, value = ""] = new RegExp(`const ${name}\\b[^=]*= ([\\d_ */.]+);`).exec(read(path)) ?? [];
  if (value === "") return null;
  const fraction = (text: string) =>
    text
      .split("/")
      .map(Number)
      .reduce((a, b) => a / b);
  return value
    .replaceAll("_", "")
    .split("*")
    .map(fraction)
    .reduce((a, b) => a * b);
}

test("every bound in docs/bounds.md is in the file that it names", () => {
  assert.ok(BOUNDS.length > 150);
  for (const { name, path } of BOUNDS) assert.ok(read(path).includes(name), `${name} in ${path}`);
});

test("docs/bounds.md says the values that the code has", () => {
  const valued = BOUNDS.filter((bound) => /^\w+$/.test(bound.name) && valueOf(bound) !== null);
  assert.ok(valued.length > 150, `${valued.length}`);
  assert.deepEqual(
    valued.filter((bound) => !numbersIn(bound.said).includes(valueOf(bound) ?? NaN)),
    [],
  );
});
