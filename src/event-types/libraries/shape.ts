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
  | ObjectShape
  | { kind: "union"; of: readonly Shape[] }
  | { kind: "named"; type: NamedType };

export interface ObjectShape {
  kind: "object";
  members: readonly Member[];
  /** Of members that the schema permits without naming them. Null: it says nothing of them, or permits none. */
  further: Shape | null;
}

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
    summary: oneLine(summary),
    shape: ofData(shapeOf(schema)),
  }));
  for (const { shape } of events) countUses(shape);
  for (const type of named.values()) type.shape = withoutSingles(type.shape);
  return events.map((event) => ({ ...event, shape: withoutSingles(event.shape) }));

  /** A schema without an equivalent type is `any`. */
  function shapeOf(schema: unknown): Shape {
    if (!isObject(schema)) return ANY;
    const { $ref, allOf, enum: values, anyOf, oneOf, ...rest } = schema;
    if (Array.isArray(values)) return literals(values);
    if ("const" in schema) return literals([schema["const"]]);
    const parts: Shape[] = [ofTypes(rest)];
    if (typeof $ref === "string") parts.unshift(referred($ref, schema));
    if (Array.isArray(allOf)) parts.push(...allOf.map(shapeOf));
    const lists = [anyOf, oneOf].filter((one) => Array.isArray(one)) as unknown[][];
    const whole = lists.reduce(alternatives, merged(parts));
    const together = togetherWith(schema);
    const required = new Set(together.flatMap(requiredOf));
    return demanding(together.reduce(conditional, together.reduce(opened, whole)), [...required]);
  }

  /** `required` alone adds nothing to the members, and an alternative of its own type replaces what is common to all. */
  function alternatives(common: Shape, either: readonly unknown[]): Shape {
    const shapes = either.map(shapeOf).filter(({ kind }) => kind !== "any");
    if (shapes.length < either.length) return extended(common, shapes);
    return union(common.kind === "any" ? shapes : shapes.map((shape) => merged([common, shape])));
  }

  /** What holds under a condition only adds members. Those that only the condition names may be anything. */
  function conditional(whole: Shape, schema: Schema): Shape {
    const { if: condition, then, else: otherwise, dependentSchemas } = schema;
    const dependent = isObject(dependentSchemas) ? Object.values(dependentSchemas) : [];
    const asked = alternativesOf(shapeOf(condition)).map(untyped);
    return extended(extended(whole, [then, otherwise, ...dependent].map(shapeOf)), asked);
  }

  function opened(whole: Shape, schema: Schema): Shape {
    const { patternProperties, additionalProperties, unevaluatedProperties } = schema;
    const others = additionalProperties ?? unevaluatedProperties ?? false;
    if (others === false && !isObject(patternProperties)) return whole;
    const further = othersOf(schema);
    return ofObjects(whole, (object) => ({ ...object, further: either(object.further, further) }));
  }

  /** Of the members without a schema by their name. */
  function othersOf(schema: Schema): Shape {
    const { patternProperties, additionalProperties, unevaluatedProperties } = schema;
    return anyOfAll(patternProperties, additionalProperties ?? unevaluatedProperties);
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
        return { kind: "array", items: anyOfAll(schema["prefixItems"], schema["items"]) };
      case "object":
        return objectOf(schema);
      default:
        return ANY;
    }
  }

  function objectOf(schema: Schema): Shape {
    const { properties } = schema;
    if (!isObject(properties) || Object.keys(properties).length === 0) {
      return { kind: "map", values: othersOf(schema) };
    }
    const members = Object.entries(properties).map(([name, member]) => ({
      ...{ name, shape: shapeOf(member), required: false },
      description: descriptionOf(member),
    }));
    return { kind: "object", members, further: null };
  }

  /** Of the items or members that have schemas of their own, and of all others, unless none is permitted. */
  function anyOfAll(own: unknown, others: unknown): Shape {
    const schemas: unknown[] = Object.values(own ?? {});
    if (others !== false || schemas.length === 0) schemas.push(others);
    return union(schemas.map(shapeOf));
  }
}

/** A schema and the parts of its `allOf`, which may say nothing but what is required, or a condition. */
function togetherWith(schema: Schema): Schema[] {
  const { allOf } = schema;
  const parts = Array.isArray(allOf) ? allOf.filter(isObject) : [];
  return [schema, ...parts.flatMap(togetherWith)];
}

function requiredOf({ required }: Schema): string[] {
  return Array.isArray(required) ? (required as string[]) : [];
}

/** The shape with these members required. One that has no schema may be anything. */
function demanding(shape: Shape, names: readonly string[]): Shape {
  return withMembers(shape, (members) => {
    const known = members.map((member) => ({
      ...member,
      required: member.required || names.includes(member.name),
    }));
    const missing = names.filter((name) => !members.some((member) => member.name === name));
    const further = missing.map((name) => ({
      ...{ name, shape: ANY, required: true, description: "" },
    }));
    return [...known, ...further];
  });
}

/** The shape with further members that only some values have. What is known of a member stays. */
function extended(shape: Shape, some: readonly Shape[]): Shape {
  const objects = some.flatMap(alternativesOf).filter((one) => plainOf(one).kind === "object");
  const further = loose(objects);
  if (further.kind !== "object") return shape;
  return withMembers(shape, (members) => [
    ...members,
    ...further.members.filter(({ name }) => !members.some((member) => member.name === name)),
  ]);
}

function untyped(shape: Shape): Shape {
  return withMembers(shape, (members) => members.map((member) => ({ ...member, shape: ANY })));
}

function withMembers(
  shape: Shape,
  change: (members: readonly Member[]) => readonly Member[],
): Shape {
  return ofObjects(shape, (object) => ({ ...object, members: change(object.members) }));
}

/** Changes all objects among the alternatives. One that stays as it is keeps its name. */
function ofObjects(shape: Shape, change: (object: ObjectShape) => ObjectShape): Shape {
  const plain = plainOf(shape);
  if (plain.kind === "union") {
    const of = plain.of.map((one) => ofObjects(one, change));
    return isDeepStrictEqual(of, plain.of) ? shape : union(of);
  }
  if (plain.kind !== "object") return shape;
  const object = change(plain);
  return isDeepStrictEqual(object, plain) ? shape : object;
}

function either(one: Shape | null, other: Shape | null): Shape | null {
  return one && other ? union([one, other]) : (one ?? other);
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
  if (shape.kind !== "object") return [];
  return [
    ...shape.members.map((member) => member.shape),
    ...(shape.further ? [shape.further] : []),
  ];
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
      return { ...shape, members, further: shape.further && withoutSingles(shape.further) };
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
    return { kind: "object", members: membersOf(a, b), further: either(a.further, b.further) };
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
  let further: Shape | null = null;
  for (const plain of alternatives.map(plainOf)) {
    if (plain.kind !== "object") return ANY;
    further = either(further, plain.further);
    for (const member of plain.members) {
      const before = members.get(member.name)?.shape;
      const shape = before ? union([before, member.shape]) : member.shape;
      members.set(member.name, { ...member, required: false, shape });
    }
  }
  return { kind: "object", members: [...members.values()], further };
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

function membersOf(one: ObjectShape, other: ObjectShape): readonly Member[] {
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
  return typeof text === "string" ? oneLine(text) : "";
}

/** Go's compiler refuses a byte order mark, which is white space here. */
function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

/** The last word of a reference: `address` of `#/$defs/address`, and the type's name of `customer.changed.json`. */
function nameOf(reference: string): string {
  const [base = "", fragment = ""] = reference.split("#");
  const last = (fragment === "" ? base.replace(/\.json$/, "") : fragment).split("/").at(-1) ?? "";
  return decodeURIComponent(last).replaceAll("~1", "/").replaceAll("~0", "~");
}
