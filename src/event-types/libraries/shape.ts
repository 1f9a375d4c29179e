import { isObject } from "../../lib/is-object.ts";
import type { Schema } from "../expand.ts";

/** The kind of a schema's values, as far as types of programming languages express it. */
export type Shape =
  | { kind: "any" | "string" | "integer" | "number" | "boolean" | "null" }
  | { kind: "literals"; values: readonly (string | number | boolean | null)[] }
  | { kind: "array"; items: Shape }
  | { kind: "map"; values: Shape }
  | { kind: "object"; members: readonly Member[] }
  | { kind: "union"; of: readonly Shape[] };

export interface Member {
  name: string;
  shape: Shape;
  required: boolean;
  /** One line. Empty: none. */
  description: string;
}

/** An event type, and the shape of its data. */
export interface TypedEvent {
  name: string;
  /** One line, without a full stop. */
  summary: string;
  shape: Shape;
}

const ANY: Shape = { kind: "any" };

/** Returns the shape of a schema without references. A schema without an equivalent type is `any`. */
export function shapeOf(schema: unknown): Shape {
  if (!isObject(schema)) return ANY;
  const { enum: values, const: only, anyOf, oneOf, allOf, $ref } = schema;
  if (isObject($ref)) return shapeOf({ ...$ref, ...without(schema, "$ref") });
  if (Array.isArray(values)) return literals(values);
  if ("const" in schema) return literals([only]);
  for (const either of [anyOf, oneOf]) {
    if (Array.isArray(either)) return union(either.map(shapeOf));
  }
  if (Array.isArray(allOf)) return merged([without(schema, "allOf"), ...(allOf as unknown[])]);
  const types = [schema["type"] ?? []].flat();
  return types.length === 0 ? typeless(schema) : union(types.map((type) => typed(type, schema)));
}

function typeless(schema: Schema): Shape {
  return isObject(schema["properties"]) ? objectOf(schema) : ANY;
}

function typed(type: unknown, schema: Schema): Shape {
  switch (type) {
    case "string":
    case "integer":
    case "number":
    case "boolean":
    case "null":
      return { kind: type };
    case "array":
      return { kind: "array", items: shapeOf(schema["items"]) };
    case "object":
      return objectOf(schema);
    default:
      return ANY;
  }
}

function objectOf({ properties, required, additionalProperties }: Schema): Shape {
  if (!isObject(properties) || Object.keys(properties).length === 0) {
    return { kind: "map", values: shapeOf(additionalProperties) };
  }
  const names = new Set(Array.isArray(required) ? required : []);
  const members = Object.entries(properties).map(([name, member]) => ({
    name,
    shape: shapeOf(member),
    required: names.has(name),
    description: descriptionOf(member),
  }));
  return { kind: "object", members };
}

/** The members of all parts. A later part replaces a member of an earlier one. */
function merged(parts: readonly unknown[]): Shape {
  const shapes = parts.map(shapeOf).filter(({ kind }) => kind !== "any");
  if (shapes.length === 1 && shapes[0]) return shapes[0];
  const members = new Map<string, Member>();
  for (const shape of shapes) {
    if (shape.kind !== "object") return ANY;
    for (const member of shape.members) members.set(member.name, member);
  }
  return members.size === 0 ? ANY : { kind: "object", members: [...members.values()] };
}

function union(of: readonly Shape[]): Shape {
  if (of.some(({ kind }) => kind === "any")) return ANY;
  return of.length === 1 && of[0] ? of[0] : { kind: "union", of };
}

function literals(values: readonly unknown[]): Shape {
  const isSimple = values.every((value) => !Array.isArray(value) && !isObject(value));
  return isSimple
    ? { kind: "literals", values: values as (string | number | boolean | null)[] }
    : ANY;
}

function descriptionOf(schema: unknown): string {
  const text = isObject(schema) ? schema["description"] : undefined;
  return typeof text === "string" ? text.replace(/\s+/g, " ").trim() : "";
}

function without(schema: Schema, name: string): Schema {
  return Object.fromEntries(Object.entries(schema).filter(([key]) => key !== name));
}
