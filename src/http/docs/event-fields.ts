import type { EventType, EventTypes } from "../../domain/event-types.ts";
import { type Schema, SchemaIndex } from "../../domain/schema-index.ts";
import { isObject } from "../../lib/is-object.ts";

/** A member of an event's data. Nested members have names like `lines[].sku`. */
export interface Field {
  name: string;
  type: string;
  required: boolean;
  description: string;
}

const FIELDS_MAX = 500;
const DEPTH_MAX = 8;

/** An object whose members are listed. `around` are the schemas that it is in. */
interface Place {
  schema: Schema;
  prefix: string;
  around: readonly Schema[];
}

const indexes = new WeakMap<EventTypes, SchemaIndex>();

/**
 * Returns the members of a type's data that its schema lists by name: those of the top level first, then those within them, level by
 * level. What is within itself is listed once.
 */
export function fieldsOf({ schema }: EventType, types: EventTypes): Field[] {
  const index = indexes.get(types) ?? new SchemaIndex(types);
  indexes.set(types, index);
  const fields = new Map<string, Field>();
  let level: Place[] = [{ schema: schema as Schema, prefix: "", around: [] }];
  for (let depth = 0; depth < DEPTH_MAX && level.length > 0; depth++) {
    level = level.flatMap((place) => [...list(place)]);
  }
  return [...fields.values()];

  /** Adds the members of an object. Returns the objects within it. */
  function* list({ schema, prefix, around }: Place): Generator<Place> {
    const parts = [...partsOfObject(schema, index, around)];
    const certain = parts.filter(({ isCertain }) => isCertain);
    const required = new Set(certain.flatMap(({ part }) => listOf(part["required"])));
    for (const { part, path } of parts) {
      for (const [member, value] of Object.entries(objectOf(part["properties"]))) {
        const name = prefix + member;
        if (fields.has(name) || fields.size >= FIELDS_MAX) continue;
        const own = resolve(objectOf(value), index);
        fields.set(name, {
          name,
          type: typeOf(own, index),
          required: required.has(member),
          description: remarksOf(own),
        });
        yield { schema: objectOf(value), prefix: `${name}.`, around: path };
        yield { schema: objectOf(own["items"]), prefix: `${name}[].`, around: path };
      }
    }
  }
}

/** A schema that applies to the same object, and whether it always does. */
interface Part {
  part: Schema;
  isCertain: boolean;
  path: readonly Schema[];
}

/** The schema, what it refers to, and the parts of `allOf`, `anyOf` and `oneOf`. Leaves out those in `around`. */
function* partsOfObject(
  schema: Schema,
  index: SchemaIndex,
  around: readonly Schema[],
  isCertain = true,
): Generator<Part> {
  if (around.includes(schema)) return;
  const path = [...around, schema];
  yield { part: schema, isCertain, path };
  const { $ref, allOf, anyOf, oneOf } = schema;
  const target = typeof $ref === "string" ? index.resolve($ref, schema) : undefined;
  if (isObject(target)) yield* partsOfObject(target, index, path, isCertain);
  for (const one of listOf(allOf)) yield* partsOfObject(objectOf(one), index, path, isCertain);
  for (const one of [...listOf(anyOf), ...listOf(oneOf)]) {
    yield* partsOfObject(objectOf(one), index, path, false);
  }
}

/** Returns the schema merged with the target of its `$ref`. Its own keywords take precedence. */
function resolve(schema: Schema, index: SchemaIndex): Schema {
  let at = schema;
  let whole: Schema = schema;
  for (let hops = 0; typeof at["$ref"] === "string" && hops < DEPTH_MAX; hops++) {
    at = objectOf(index.resolve(at["$ref"], at));
    whole = { ...at, ...whole };
  }
  return whole;
}

function typeOf(schema: Schema, index: SchemaIndex, depth = 0): string {
  const { type, items, format, enum: values } = schema;
  const names = [type ?? []].flat().map(String);
  if (names.length === 0) return values === undefined && !("const" in schema) ? "any" : "constant";
  const text = names.map((name) => {
    if (name !== "array" || items === undefined || depth >= DEPTH_MAX) return name;
    return `array of ${typeOf(resolve(objectOf(items), index), index, depth + 1)}`;
  });
  return text.join(" or ") + (typeof format === "string" ? ` (${format})` : "");
}

function remarksOf(schema: Schema): string {
  const { description, enum: values, minimum, maximum, minLength, maxLength, pattern } = schema;
  const code = (value: unknown) =>
    `\`${typeof value === "string" ? value : JSON.stringify(value)}\``;
  const remarks = [
    typeof description === "string" ? description : "",
    Array.isArray(values) ? `One of ${values.map(code).join(", ")}.` : "",
    "const" in schema ? `Always ${code(schema["const"])}.` : "",
    minimum === undefined ? "" : `At least ${code(minimum)}.`,
    maximum === undefined ? "" : `At most ${code(maximum)}.`,
    minLength === undefined ? "" : `At least ${code(minLength)} characters.`,
    maxLength === undefined ? "" : `At most ${code(maxLength)} characters.`,
    pattern === undefined ? "" : `Matches ${code(pattern)}.`,
  ];
  return remarks.filter((remark) => remark !== "").join(" ");
}

function objectOf(value: unknown): Schema {
  return isObject(value) ? value : {};
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
