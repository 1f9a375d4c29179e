import { isDeepStrictEqual } from "node:util";
import { isObject } from "../lib/objects.ts";

export type Schema = Record<string, unknown>;

/** Keywords whose value is a schema. */
const SUBSCHEMA = new Set(
  ["not", "if", "then", "else", "contains", "propertyNames", "additionalProperties"].concat(
    ...["unevaluatedItems", "unevaluatedProperties", "contentSchema", "items"],
  ),
);
/** … a list of schemas. */
const SUBSCHEMA_LIST = new Set(["allOf", "anyOf", "oneOf", "prefixItems"]);
/** … schemas by name. */
const SUBSCHEMA_MAP = new Set(
  ["properties", "patternProperties", "dependentSchemas", "$defs", "definitions"].concat(
    ...["dependencies"],
  ),
);

/** Where the parts of a keyword's value are schemas: the value itself, its items, or its members. */
export function partsOf(keyword: string): "itself" | "items" | "members" | null {
  if (SUBSCHEMA.has(keyword)) return "itself";
  if (SUBSCHEMA_LIST.has(keyword)) return "items";
  return SUBSCHEMA_MAP.has(keyword) ? "members" : null;
}

/** Returns the schemas directly within a schema. */
export function subschemasOf(schema: Schema): { keyword: string; schema: Schema }[] {
  return Object.entries(schema).flatMap(([keyword, value]) => {
    const parts = partsOf(keyword);
    const found =
      parts === "itself"
        ? [value]
        : parts === "items" && Array.isArray(value)
          ? (value as unknown[])
          : parts === "members" && isObject(value)
            ? Object.values(value)
            : [];
    return found.filter(isObject).map((part) => ({ keyword, schema: part }));
  });
}

/** The base of types without an `$id`. */
const HERE = "https://event-types.invalid/";

/** Finds what the references of a folder's schemas lead to. */
export class SchemaIndex {
  /** Schemas by their absolute URI, also those with an anchor. */
  readonly #byUri = new Map<string, Schema>();
  readonly #bases = new WeakMap<Schema, string>();
  /** The dynamic anchors of each resource. */
  readonly #dynamic = new Map<string, Map<string, Schema>>();
  readonly #texts = new WeakMap<Schema, string>();
  /** The `$id`s of several schemas. Files may hold copies of one schema. */
  readonly duplicates: string[] = [];

  constructor(types: Iterable<{ name: string; schema: object }>) {
    for (const { name, schema } of types) {
      this.#byUri.set(HERE + name, schema as Schema);
      this.#byUri.set(`${HERE}${name}.json`, schema as Schema);
      this.#add(schema as Schema, HERE + name);
    }
  }

  #add(schema: Schema, outer: string): void {
    const { $id, $anchor, $dynamicAnchor } = schema;
    const base = typeof $id === "string" ? (resolveUri($id, outer) ?? outer) : outer;
    this.#bases.set(schema, base);
    if (base !== outer) {
      const before = this.#byUri.get(base);
      if (before && !isDeepStrictEqual(before, schema)) this.duplicates.push(String($id));
      this.#byUri.set(base, schema);
    }
    for (const anchor of [$anchor, $dynamicAnchor]) {
      if (typeof anchor === "string") this.#byUri.set(`${base}#${anchor}`, schema);
    }
    if (typeof $dynamicAnchor === "string") {
      const anchors = this.#dynamic.get(base) ?? new Map<string, Schema>();
      this.#dynamic.set(base, anchors.set($dynamicAnchor, schema));
    }
    for (const { schema: part } of subschemasOf(schema)) this.#add(part, base);
  }

  /** The dynamic anchors of the resource that a schema belongs to. */
  dynamicAnchorsAround(schema: Schema): ReadonlyMap<string, Schema> {
    return this.#dynamic.get(this.#bases.get(schema) ?? "") ?? new Map<string, Schema>();
  }

  /** Returns a text that is the same for equal schemas whose references lead to equal schemas. */
  textOf(target: Schema): string {
    const known = this.#texts.get(target);
    if (known !== undefined) return known;
    const reached = new Set([target]);
    for (const schema of reached) {
      for (const [reference, from] of referencesIn(schema)) {
        const further = this.resolve(reference, from);
        if (isObject(further)) reached.add(further);
      }
    }
    const text = [...reached].map((schema) => JSON.stringify(schema)).join("\n");
    this.#texts.set(target, text);
    return text;
  }

  /** Returns what a reference in this schema leads to. */
  resolve(reference: string, from: Schema): Schema | boolean | undefined {
    const uri = resolveUri(reference, this.#bases.get(from) ?? HERE);
    if (uri === null) return undefined;
    const [base = "", fragment = ""] = uri.split("#");
    const root = this.#byUri.get(base);
    if (fragment === "") return root;
    if (!fragment.startsWith("/")) return this.#byUri.get(uri);
    return root && this.#follow(root, base, fragment);
  }

  #follow(root: Schema, base: string, fragment: string): Schema | boolean | undefined {
    let at: unknown = root;
    let around = base;
    for (const step of fragment.split("/").slice(1)) {
      const name = decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~");
      if (typeof at !== "object" || at === null || !Object.hasOwn(at, name)) return undefined;
      at = (at as Schema)[name];
      if (isObject(at)) around = this.#bases.get(at) ?? around;
    }
    if (typeof at === "boolean") return at;
    if (!isObject(at)) return undefined;
    if (!this.#bases.has(at)) this.#add(at, around);
    return at;
  }
}

function resolveUri(reference: string, base: string): string | null {
  try {
    return new URL(reference, base).href.replace(/#$/, "");
  } catch {
    return null;
  }
}

/** The references within a schema, each with the schema that it stands in. */
function* referencesIn(value: unknown): Generator<[reference: string, from: Schema]> {
  if (Array.isArray(value)) for (const item of value) yield* referencesIn(item);
  if (!isObject(value)) return;
  for (const reference of [value["$ref"], value["$dynamicRef"]]) {
    if (typeof reference === "string") yield [reference, value];
  }
  for (const member of Object.values(value)) yield* referencesIn(member);
}
