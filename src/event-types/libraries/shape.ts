import { isDeepStrictEqual } from "node:util";
import { isObject } from "../../lib/objects.ts";
import type { Definition } from "../definition.ts";
import { type Schema, SchemaIndex } from "../schema-index.ts";

/** The kind of a schema's values, as far as types of programming languages express it. */
export type Shape =
  | { kind: "any" | "string" | "integer" | "number" | "boolean" | "null" }
  | { kind: "literals"; values: readonly (string | number | boolean | null)[] }
  | { kind: "array"; items: Shape }
  | { kind: "map"; values: Shape }
  | { kind: "object"; members: readonly Member[] }
  | { kind: "union"; of: readonly Shape[] }
  | { kind: "named"; type: NamedType };

export interface Member {
  name: string;
  shape: Shape;
  required: boolean;
  /** One line. Empty: none. */
  description: string;
}

/** A shape that several places refer to. */
export interface NamedType {
  /** Of the definition: not unique. */
  readonly name: string;
  shape: Shape;
  /** Whether it contains itself. */
  isRecursive: boolean;
  /** In how many places it would stand. */
  uses: number;
}

/** An event type, and the shape of its data. */
export interface TypedEvent {
  name: string;
  /** One line, without a full stop. */
  summary: string;
  shape: Shape;
}

const ANY: Shape = { kind: "any" };

/** Returns the events of a folder with the shapes of their data. Equal definitions of several files are one named type. */
export function typedEvents(definitions: readonly Definition[]): TypedEvent[] {
  const index = new SchemaIndex(definitions);
  const named = new Map<string, NamedType>();
  const open = new Set<NamedType>();
  const events = definitions.map(({ name, summary, schema }) => ({
    name,
    summary,
    shape: ofData(shapeOf(schema)),
  }));
  for (const { shape } of events) countUses(shape);
  for (const type of named.values()) type.shape = withoutSingles(type.shape);
  return events.map((event) => ({ ...event, shape: withoutSingles(event.shape) }));

  /** A schema without an equivalent type is `any`. */
  function shapeOf(schema: unknown): Shape {
    if (!isObject(schema)) return ANY;
    const { $ref, allOf, enum: values, const: only, anyOf, oneOf, ...rest } = schema;
    if (Array.isArray(values)) return literals(values);
    if ("const" in schema) return literals([only]);
    const parts: Shape[] = [ofTypes(rest)];
    if (typeof $ref === "string") parts.unshift(referred($ref, schema));
    if (Array.isArray(allOf)) parts.push(...allOf.map(shapeOf));
    const whole = merged(parts);
    const either = [anyOf, oneOf].find((one) => Array.isArray(one)) as unknown[] | undefined;
    return either ? alternatives(whole, either) : whole;
  }

  /** `required` alone adds nothing to the members, and an alternative of its own type replaces what is common to all. */
  function alternatives(common: Shape, either: readonly unknown[]): Shape {
    const shapes = either.map(shapeOf).filter(({ kind }) => kind !== "any");
    if (shapes.length < either.length) return common;
    return union(common.kind === "any" ? shapes : shapes.map((shape) => merged([common, shape])));
  }

  function referred(reference: string, from: Schema): Shape {
    const target = index.resolve(reference, from);
    if (!isObject(target)) return ANY;
    const key = `${nameOf(reference)} ${index.textOf(target)}`;
    const known = named.get(key);
    if (known) {
      if (open.has(known)) known.isRecursive = true;
      return isWorthAName(known.shape) || open.has(known)
        ? { kind: "named", type: known }
        : known.shape;
    }
    const type: NamedType = { name: nameOf(reference), shape: ANY, isRecursive: false, uses: 0 };
    named.set(key, type);
    open.add(type);
    type.shape = shapeOf(target);
    open.delete(type);
    return isWorthAName(type.shape) || type.isRecursive ? { kind: "named", type } : type.shape;
  }

  function ofTypes(schema: Schema): Shape {
    const types = [schema["type"] ?? []].flat();
    if (types.length === 0) return isObject(schema["properties"]) ? objectOf(schema) : ANY;
    return union(types.map((type) => typed(type, schema)));
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
}

/** `data` is an object even if its schema does not say so. */
function ofData(shape: Shape): Shape {
  return isOfObjects(shape) ? shape : { kind: "map", values: ANY };
}

function isOfObjects(shape: Shape): boolean {
  const plain = plainOf(shape);
  return plain.kind === "object" || (plain.kind === "union" && plain.of.every(isOfObjects));
}

function countUses(shape: Shape): void {
  if (shape.kind === "named" && shape.type.uses++ > 0) return;
  for (const part of partsOf(shape)) countUses(part);
}

function partsOf(shape: Shape): readonly Shape[] {
  if (shape.kind === "named") return [shape.type.shape];
  if (shape.kind === "array") return [shape.items];
  if (shape.kind === "map") return [shape.values];
  if (shape.kind === "union") return shape.of;
  return shape.kind === "object" ? shape.members.map((member) => member.shape) : [];
}

/** A type that only one place refers to stands there. */
function withoutSingles(shape: Shape): Shape {
  switch (shape.kind) {
    case "array":
      return { ...shape, items: withoutSingles(shape.items) };
    case "map":
      return { ...shape, values: withoutSingles(shape.values) };
    case "union":
      return { ...shape, of: shape.of.map(withoutSingles) };
    case "object": {
      const members = shape.members.map((one) => ({ ...one, shape: withoutSingles(one.shape) }));
      return { ...shape, members };
    }
    case "named": {
      const { uses, isRecursive, shape: only } = shape.type;
      return uses > 1 || isRecursive ? shape : withoutSingles(only);
    }
    case "any":
    case "string":
    case "integer":
    case "number":
    case "boolean":
    case "null":
    case "literals":
      return shape;
  }
}

export function plainOf(shape: Shape): Shape {
  return shape.kind === "named" ? plainOf(shape.type.shape) : shape;
}

function isWorthAName({ kind }: Shape): boolean {
  return kind === "object" || kind === "union" || kind === "literals";
}

/** Pairs of alternatives that a type may have. More would hide what they have in common. */
const PAIRS_MAX = 12;

/** What all parts allow. Where no type says so, it allows more. */
function merged(parts: readonly Shape[]): Shape {
  return parts.reduce(both, ANY);
}

function both(one: Shape, other: Shape): Shape {
  if (one.kind === "any" || isSame(one, other)) return other;
  const [a, b] = [plainOf(one), plainOf(other)];
  if (b.kind === "any") return one;
  if (a.kind === "union" || b.kind === "union") return bothOfUnions(one, other);
  if (a.kind === "object" && b.kind === "object")
    return { kind: "object", members: membersOf(a, b) };
  if (b.kind === "map" && a.kind === "object") return one;
  return a.kind === "literals" && b.kind !== "literals" ? one : other;
}

/** The pairs of their alternatives that a value can have at once. */
function bothOfUnions(one: Shape, other: Shape): Shape {
  const [some, others] = [alternativesOf(one), alternativesOf(other)];
  const areMany = some.length > 1 && others.length > 1 && some.length * others.length > PAIRS_MAX;
  if (areMany) return both(one, loose(others));
  const pairs = some.flatMap((a) =>
    others.filter((b) => areOfOneKind(a, b)).map((b) => both(a, b)),
  );
  if (pairs.length > 0) return union(pairs);
  return some.length > 1 && others.length === 1 ? other : one;
}

/** One object with the members of all alternatives, and none required. */
function loose(alternatives: readonly Shape[]): Shape {
  const members = new Map<string, Member>();
  for (const plain of alternatives.map(plainOf)) {
    if (plain.kind !== "object") return ANY;
    for (const member of plain.members) {
      const before = members.get(member.name)?.shape;
      const shape = before ? union([before, member.shape]) : member.shape;
      members.set(member.name, { ...member, required: false, shape });
    }
  }
  return { kind: "object", members: [...members.values()] };
}

function alternativesOf(shape: Shape): readonly Shape[] {
  const plain = plainOf(shape);
  return plain.kind === "union" ? plain.of.flatMap(alternativesOf) : [shape];
}

function areOfOneKind(one: Shape, other: Shape): boolean {
  const [a, b] = [one, other].map((shape) => KINDS[plainOf(shape).kind]);
  return a === b || a === "any" || b === "any";
}

/** What a value is in JSON. */
const KINDS: Record<Shape["kind"], string> = {
  ...{ any: "any", named: "any", literals: "any", union: "any" },
  ...{ object: "object", map: "object", array: "array" },
  ...{ string: "string", integer: "number", number: "number", boolean: "boolean", null: "null" },
};

function membersOf(
  one: Shape & { kind: "object" },
  other: Shape & { kind: "object" },
): readonly Member[] {
  const members = new Map(one.members.map((member) => [member.name, member]));
  for (const member of other.members) {
    const before = members.get(member.name);
    if (before === undefined) members.set(member.name, member);
    else
      members.set(member.name, {
        ...member,
        description: member.description || before.description,
        required: member.required || before.required,
        shape: both(before.shape, member.shape),
      });
  }
  return [...members.values()];
}

function union(of: readonly Shape[]): Shape {
  if (of.some(({ kind }) => kind === "any")) return ANY;
  const kinds = new Set<string>(of.map(({ kind }) => kind));
  const different = of.filter(
    (shape, i) =>
      !isOfKinds(shape, kinds) && !of.slice(0, i).some((earlier) => isSame(earlier, shape)),
  );
  const [one] = different;
  return different.length === 1 && one ? one : { kind: "union", of: different };
}

/** A text that may be any text needs no list. */
function isOfKinds(shape: Shape, kinds: ReadonlySet<string>): boolean {
  const plain = plainOf(shape);
  if (plain.kind !== "literals" || plain.values.length === 0) return false;
  return plain.values.every((value) => kinds.has(value === null ? "null" : typeof value));
}

function isSame(one: Shape, other: Shape): boolean {
  if (one.kind === "named" || other.kind === "named")
    return one.kind === "named" && other.kind === "named" && one.type === other.type;
  return isDeepStrictEqual(one, other);
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

/** The last word of a reference: `address` of `#/$defs/address`, and the type's name of `customer.changed.json`. */
function nameOf(reference: string): string {
  const [base = "", fragment = ""] = reference.split("#");
  const last = (fragment === "" ? base.replace(/\.json$/, "") : fragment).split("/").at(-1) ?? "";
  return decodeURIComponent(last).replaceAll("~1", "/").replaceAll("~0", "~");
}
