import type { EventType, EventTypes } from "../../domain/event-types.ts";
import { isObject } from "../../lib/is-object.ts";

/** A member of an event's data. Nested members have names like `lines[].sku`. */
export interface Field {
  name: string;
  type: string;
  required: boolean;
  description: string;
}

type Schema = Record<string, unknown>;

const FIELDS_MAX = 500;
const DEPTH_MAX = 8;

/** Returns the members of a type's data that its schema lists by name. */
export function fieldsOf({ schema, name }: EventType, types: EventTypes): Field[] {
  const fields: Field[] = [];
  add(schema as Schema, "", name, 0);
  return fields;

  function add(raw: Schema, prefix: string, home: string, depth: number): void {
    const { schema, home: base } = resolve(raw, home, types);
    const required = Array.isArray(schema["required"]) ? (schema["required"] as string[]) : [];
    for (const [member, value] of Object.entries(objectOf(schema["properties"]))) {
      if (fields.length >= FIELDS_MAX) return;
      const own = resolve(objectOf(value), base, types);
      fields.push({
        name: prefix + member,
        type: typeOf(own.schema, own.home, types),
        required: required.includes(member),
        description: remarksOf(own.schema),
      });
      if (depth >= DEPTH_MAX) continue;
      add(own.schema, `${prefix}${member}.`, own.home, depth + 1);
      const items = objectOf(own.schema["items"]);
      add(items, `${prefix}${member}[].`, own.home, depth + 1);
    }
    for (const part of listOf(schema["allOf"])) {
      if (depth < DEPTH_MAX) add(objectOf(part), prefix, base, depth + 1);
    }
  }
}

/** Returns the schema merged with the target of its `$ref`. Its own keywords take precedence. */
function resolve(
  schema: Schema,
  home: string,
  types: EventTypes,
): { schema: Schema; home: string } {
  let [at, base] = [schema, home];
  for (let hops = 0; typeof at["$ref"] === "string" && hops < DEPTH_MAX; hops++) {
    const { $ref, ...own } = at;
    const [file = "", fragment = ""] = $ref.split("#");
    if (file !== "") base = file.replace(/\.json$/, "");
    const target = types.find(base)?.schema;
    at = { ...objectOf(follow(target, fragment)), ...own };
  }
  return { schema: at, home: base };
}

function follow(target: unknown, fragment: string): unknown {
  const steps = fragment.split("/").slice(1);
  return steps.reduce((value, step) => {
    const name = step.replaceAll("~1", "/").replaceAll("~0", "~");
    return objectOf(value)[name];
  }, target);
}

function typeOf(schema: Schema, home: string, types: EventTypes): string {
  const { type, items, format, enum: values } = schema;
  const names = [type ?? []].flat().map(String);
  if (names.length === 0) return values === undefined && !("const" in schema) ? "any" : "constant";
  const text = names.map((name) => {
    if (name !== "array" || items === undefined) return name;
    const item = resolve(objectOf(items), home, types);
    return `array of ${typeOf(item.schema, item.home, types)}`;
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
