import { compileTypes } from "../../src/event-types/compile.ts";
import type { EventType } from "../../src/subjects/event-types/rules.ts";

const text = { type: "string" };
const object = (properties: object, required: string[] = []) => ({
  ...{ type: "object", properties, required },
});

const SCHEMA = object(
  {
    amount: { type: "number" },
    is_gift: { type: "boolean" },
    customer: object({ name: text, address: object({ city: text }) }),
    lines: {
      type: "array",
      items: object({ sku: text, quantities: { type: "array", items: { type: "integer" } } }),
    },
    grid: { type: "array", items: { type: "array", items: object({ id: text }) } },
  },
  ["amount"],
);

/** Data with a value in every place that the type `order.created` has. */
export const NESTED_DATA = {
  amount: 19.99,
  is_gift: true,
  customer: { name: "Ada", address: { city: "London" } },
  lines: [{ sku: "a", quantities: [1, 2] }],
  grid: [[{ id: "x" }], []],
};

/** A platform's type `order.created` with objects and lists in each other, compiled as at a start. */
export async function aNestedType(): Promise<EventType> {
  const definition = { name: "order.created", summary: "An order was placed", schema: SCHEMA };
  const [type] = await compileTypes([{ ...definition, example: NESTED_DATA }], []);
  if (!type) throw new Error("the nested type does not compile");
  return type;
}

type Path = readonly (string | number)[];

/** The paths to all values in `value`, itself included. */
export function pathsIn(value: unknown, path: Path = []): Path[] {
  if (typeof value !== "object" || value === null) return [path];
  const members: [string | number, unknown][] = Array.isArray(value)
    ? [...value.entries()]
    : Object.entries(value);
  return [path, ...members.flatMap(([name, member]) => pathsIn(member, [...path, name]))];
}

/** The same value with another one at the path. */
export function replacedAt(value: unknown, [step, ...rest]: Path, by: unknown): unknown {
  if (step === undefined) return by;
  const copy = (
    Array.isArray(value) ? [...(value as unknown[])] : { ...(value as object) }
  ) as Record<string | number, unknown>;
  copy[step] = replacedAt(copy[step], rest, by);
  return copy;
}

export function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((at, step) => (at as Record<string | number, unknown>)[step], value);
}
