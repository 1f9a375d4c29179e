import { isObject } from "../lib/objects.ts";
import { isAnnotation } from "./dialect.ts";
import type { Schema, SchemaIndex } from "./schema-index.ts";

/** Says nothing of which data is valid. */
const SILENT = new Set(
  ["title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly"].concat([
    ...["$comment", "$schema", "$id", "$anchor", "$dynamicAnchor", "$defs", "definitions"],
  ]),
);
const NODES_MAX = 100_000;

/**
 * A schema with what its `$ref`s lead to in their place, and without what says nothing of the data. Throws where that is not
 * possible: for a `$dynamicRef`, and for a schema that gets too large.
 */
export function expandSchema(
  root: Schema,
  index: SchemaIndex,
  annotations: readonly string[],
): Schema {
  let nodes = 0;
  return expandObject(root, []);

  function expand(value: unknown, path: readonly unknown[]): unknown {
    if (Array.isArray(value)) return value.map((item) => expand(item, path));
    return isObject(value) ? expandObject(value, path) : value;
  }

  function expandObject(schema: Schema, path: readonly unknown[]): Schema {
    if (++nodes > NODES_MAX) throw new Error("the schema is too large to compare");
    if ("$dynamicRef" in schema) throw new Error("a $dynamicRef cannot be compared");
    const { $ref, ...rest } = schema;
    const entries = Object.entries(rest).filter(
      ([keyword]) => !SILENT.has(keyword) && !isAnnotation(keyword, annotations),
    );
    const own = Object.fromEntries(
      entries.map(([keyword, value]) => [keyword, expandKeyword(keyword, value, path)]),
    );
    if (typeof $ref !== "string") return own;

    const target = index.resolve($ref, schema);
    if (target === undefined) throw new Error(`the $ref ${$ref} cannot be compared`);
    if (path.includes(target)) return { ...own, $ref: `a schema around it, ${$ref}` };
    const referred = isObject(target) ? expandObject(target, [...path, target]) : target;
    return Object.keys(own).length === 0 && isObject(referred)
      ? referred
      : { ...own, $ref: referred };
  }

  /** Members can have any name, also that of a keyword. */
  function expandKeyword(keyword: string, value: unknown, path: readonly unknown[]): unknown {
    if (["enum", "const", "dependentRequired"].includes(keyword)) return value;
    if (!["properties", "patternProperties", "dependentSchemas"].includes(keyword)) {
      return expand(value, path);
    }
    const members = Object.entries(isObject(value) ? value : {});
    return Object.fromEntries(members.map(([name, member]) => [name, expand(member, path)]));
  }
}
