import type { EventType } from "../../domain/event-types.ts";
import { partsOf, type Schema, SchemaIndex } from "../../domain/schema-index.ts";
import { isObject } from "../../lib/is-object.ts";

/** Keywords of a place in a file, which a component does not have. */
const OF_PLACE = new Set(["$schema", "$id", "$anchor", "$dynamicAnchor", "$defs", "definitions"]);

/**
 * Returns the schemas of the types' `data` as components of the OpenAPI document, by name. A definition is a component, too: equal
 * definitions of several types are one. Names of types are in lower case, so that no definition has one.
 */
export function componentsOf(types: readonly EventType[]): Record<string, object> {
  const index = new SchemaIndex(types);
  const names = new Map<string, string>();
  const components: Record<string, object> = {};
  for (const { name, schema } of types) names.set(index.textOf(schema as Schema), name);
  for (const { name, schema } of types) components[name] = component(schema as Schema);
  return components;

  function component(schema: Schema): Schema {
    const { $ref, $dynamicRef, ...rest } = schema;
    const own = Object.entries(rest)
      .filter(([keyword]) => !OF_PLACE.has(keyword))
      .map(([keyword, value]) => [keyword, parts(keyword, value)] as const);
    const reference = $ref ?? $dynamicRef;
    const target = typeof reference === "string" ? referenceOf(reference, schema) : {};
    return { ...target, ...Object.fromEntries(own) };
  }

  function parts(keyword: string, value: unknown): unknown {
    const inner = (part: unknown) => (isObject(part) ? component(part) : part);
    const kind = partsOf(keyword);
    if (kind === "itself") return inner(value);
    if (kind === "items" && Array.isArray(value)) return value.map(inner);
    if (kind !== "members" || !isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, inner(part)]));
  }

  function referenceOf(reference: string, from: Schema): Schema {
    const target = index.resolve(reference, from);
    if (!isObject(target)) return target === false ? { not: {} } : {};
    const text = index.textOf(target);
    const known = names.get(text) ?? nameFor(reference, (name) => name in components);
    if (!names.has(text)) {
      names.set(text, known);
      components[known] = {}; // So that a definition that refers to itself ends.
      components[known] = component(target);
    }
    return { $ref: `#/components/schemas/${known}` };
  }
}

/** `Data.address` for `#/$defs/address`. */
function nameFor(reference: string, isTaken: (name: string) => boolean): string {
  const last = decodeURIComponent(
    reference
      .replace(/\.json$/, "")
      .split(/[/#]/)
      .at(-1) ?? "",
  );
  const wanted = `Data.${last.replaceAll(/[^A-Za-z0-9._-]/g, "_")}`;
  let name = wanted;
  for (let i = 2; isTaken(name); i++) name = `${wanted}.${i}`;
  return name;
}
