import type { EventType } from "../../domain/event-types.ts";

type Schema = Record<string, unknown>;

/** Keywords whose values are data. */
const LITERAL = new Set(["enum", "const", "examples", "default"]);

/** Returns the schema of a type's `data` with references to the components of the OpenAPI document. */
export function asComponent({ name, schema }: EventType, types: readonly EventType[]): object {
  const own = Object.entries(schema).filter(([key]) => key !== "$id" && key !== "$schema");
  return rewrite(Object.fromEntries(own)) as object;

  function rewrite(value: unknown, key = ""): unknown {
    if (LITERAL.has(key)) return value;
    if (Array.isArray(value)) return value.map((item) => rewrite(item));
    if (typeof value !== "object" || value === null) {
      return key === "$ref" && typeof value === "string" ? componentOf(value) : value;
    }
    return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, rewrite(v, k)]));
  }

  function componentOf(ref: string): string {
    const [base = "", fragment = ""] = ref.split("#");
    const target = types.find((type) =>
      [type.name, `${type.name}.json`, (type.schema as Schema)["$id"]].includes(base),
    );
    const known = base === "" ? name : target?.name;
    return known === undefined ? ref : `#/components/schemas/${known}${fragment}`;
  }
}
