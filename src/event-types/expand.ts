import { isObject } from "../lib/is-object.ts";
import type { Definition } from "./definition.ts";

export type Schema = Record<string, unknown>;

/** Says nothing of which data is valid. */
const SILENT = new Set(
  ["title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly"].concat([
    ...["$comment", "$schema", "$id", "$defs", "definitions"],
  ]),
);
const NODES_MAX = 100_000;

/**
 * A type's schema with what its `$ref`s lead to in their place, and without what says nothing of the data. Throws where
 * that is not possible: for anchors, and for a schema that gets too large.
 */
export function expandSchema(
  definition: Definition,
  folder: readonly Definition[],
  { keep = [] }: { keep?: readonly string[] } = {},
): Schema {
  let nodes = 0;
  return expandObject(definition.schema, definition, []);

  function expand(value: unknown, home: Definition, path: readonly unknown[]): unknown {
    if (Array.isArray(value)) return value.map((item) => expand(item, home, path));
    return isObject(value) ? expandObject(value, home, path) : value;
  }

  function expandObject(schema: Schema, home: Definition, path: readonly unknown[]): Schema {
    if (++nodes > NODES_MAX) throw new Error("the schema is too large to compare");
    if ("$dynamicRef" in schema) throw new Error("a $dynamicRef cannot be compared");
    const { $ref, ...rest } = schema;
    const entries = Object.entries(rest).filter(
      ([keyword]) => !SILENT.has(keyword) || keep.includes(keyword),
    );
    const own = Object.fromEntries(
      entries.map(([keyword, value]) => [keyword, expandKeyword(keyword, value, home, path)]),
    );
    if (typeof $ref !== "string") return own;

    const target = resolve($ref, home);
    if (path.includes(target.schema)) return { ...own, $ref: `a schema around it, ${$ref}` };
    const referred = expandObject(target.schema, target.home, [...path, target.schema]);
    return Object.keys(own).length === 0 ? referred : { ...own, $ref: referred };
  }

  /** Members can have any name, also that of a keyword. */
  function expandKeyword(
    keyword: string,
    value: unknown,
    home: Definition,
    path: readonly unknown[],
  ): unknown {
    if (["enum", "const"].includes(keyword)) return value;
    if (!["properties", "patternProperties", "dependentSchemas"].includes(keyword)) {
      return expand(value, home, path);
    }
    const members = Object.entries(isObject(value) ? value : {});
    return Object.fromEntries(members.map(([name, member]) => [name, expand(member, home, path)]));
  }

  function resolve($ref: string, home: Definition): { schema: Schema; home: Definition } {
    const [base = "", fragment = ""] = $ref.split("#");
    const target =
      base === ""
        ? home
        : folder.find(({ name, schema }) => [name, `${name}.json`, schema["$id"]].includes(base));
    const schema = target && at(target.schema, fragment);
    if (!target || !isObject(schema)) throw new Error(`the $ref ${$ref} cannot be compared`);
    return { schema, home: target };
  }
}

/** Returns the target of a JSON pointer in a fragment. */
function at(schema: Schema, fragment: string): unknown {
  if (fragment !== "" && !fragment.startsWith("/")) return undefined;
  const steps = fragment.split("/").slice(1);
  return steps.reduce<unknown>((value, step) => {
    const name = decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~");
    return (value as Schema | undefined)?.[name];
  }, schema);
}
