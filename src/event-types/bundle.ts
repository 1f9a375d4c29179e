import { isObject } from "../lib/objects.ts";
import type { Definition } from "./definition.ts";
import { partsOf, type Schema, SchemaIndex } from "./schema-index.ts";

/** Keywords that the validator knows and the specification does not. */
export const FOREIGN = ["nullable", "id", "$recursiveRef", "$recursiveAnchor"];

/** Keywords that say where a schema is, hold others, or must not reach the validator. */
const OF_PLACE = new Set(
  ["$schema", "$id", "$anchor", "$dynamicAnchor", "$defs", "definitions", "$comment"].concat(
    ...["title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly"],
    FOREIGN,
  ),
);

/** The outermost schema of each dynamic anchor on the way to a place. */
type Scope = ReadonlyMap<string, Schema>;

/**
 * The schemas of a folder as one, in which each reference is `#/$defs/…`. So references mean what the specification says, and
 * not what the validator makes of identifiers, anchors and dynamic scopes.
 */
export class Bundle {
  readonly $defs: Record<string, Schema | boolean> = {};
  readonly #index: SchemaIndex;
  readonly #names = new Map<string, string>();
  readonly #ids = new Map<Schema, number>();
  readonly #evaluates: boolean;

  constructor(definitions: readonly Definition[], index: SchemaIndex) {
    this.#index = index;
    this.#evaluates = JSON.stringify(definitions).includes('"unevaluated');
  }

  /** Returns the reference of a type. Throws if one of its references leads nowhere. */
  add({ schema }: Definition): string {
    return this.#refTo(schema, new Map());
  }

  #refTo(target: Schema | boolean, outer: Scope): string {
    if (typeof target === "boolean") {
      this.$defs[String(target)] = target;
      return `#/$defs/${target}`;
    }
    const scope = this.#entered(target, outer);
    // Files often hold the same definitions. They are compiled once.
    const key =
      scope.size === 0
        ? this.#index.textOf(target)
        : [target, ...scope.values()].map((schema) => this.#idOf(schema)).join();
    const known = this.#names.get(key);
    if (known !== undefined) return known;
    const name = `s${this.#names.size}`;
    this.#names.set(key, `#/$defs/${name}`);
    this.$defs[name] = this.#copy(target, scope);
    return `#/$defs/${name}`;
  }

  #entered(target: Schema, outer: Scope): Scope {
    const anchors = this.#index.dynamicAnchorsAround(target);
    return anchors.size === 0 ? outer : new Map([...anchors, ...outer]);
  }

  #idOf(schema: Schema): number {
    const id = this.#ids.get(schema) ?? this.#ids.size;
    this.#ids.set(schema, id);
    return id;
  }

  #copy(schema: Schema, outer: Scope): Schema {
    const scope = this.#entered(schema, outer);
    const { $ref, $dynamicRef, ...rest } = schema;
    const own = Object.entries(rest)
      .filter(([keyword]) => !OF_PLACE.has(keyword))
      .map(([keyword, value]) => [keyword, this.#parts(keyword, value, scope)] as const);
    const copy: Schema = Object.fromEntries(own);
    const conditions = this.#evaluates ? takeConditions(copy) : [];
    const references = [
      ...(typeof $ref === "string" ? [this.#follow($ref, schema)] : []),
      ...(typeof $dynamicRef === "string" ? [this.#followDynamic($dynamicRef, schema, scope)] : []),
    ].map((target) => ({ $ref: this.#refTo(target, scope) }));
    const [one, ...others] = references;
    if (one && others.length === 0 && conditions.length === 0) return { ...one, ...copy };
    const parts = [...references, ...conditions, ...((copy["allOf"] ?? []) as Schema[])];
    return parts.length === 0 ? copy : { ...copy, allOf: parts };
  }

  #parts(keyword: string, value: unknown, scope: Scope): unknown {
    const inner = (part: unknown) => (isObject(part) ? this.#copy(part, scope) : part);
    switch (partsOf(keyword)) {
      case "itself":
        return inner(value);
      case "items":
        return Array.isArray(value) ? value.map(inner) : value;
      case "members":
        return isObject(value)
          ? Object.fromEntries(Object.entries(value).map(([name, part]) => [name, inner(part)]))
          : value;
      case null:
        return value;
    }
  }

  #follow(reference: string, from: Schema): Schema | boolean {
    const target = this.#index.resolve(reference, from);
    if (target === undefined) throw new Error(`can't resolve reference ${reference}`);
    return target;
  }

  #followDynamic(reference: string, from: Schema, scope: Scope): Schema | boolean {
    const target = this.#follow(reference, from);
    const [, anchor = ""] = reference.split("#");
    const isDynamic = isObject(target) && target["$dynamicAnchor"] === anchor;
    return isDynamic ? (scope.get(anchor) ?? target) : target;
  }
}

/** Ajv counts what an `if` evaluates even where it fails, and nothing of an `if` alone. So alternatives take its place. */
function takeConditions(schema: Schema): Schema[] {
  if (!Object.hasOwn(schema, "if")) return [];
  const { if: condition, then = true, else: otherwise = true } = schema;
  for (const keyword of ["if", "then", "else"]) Reflect.deleteProperty(schema, keyword);
  return [{ anyOf: [{ allOf: [condition, then] }, { allOf: [{ not: condition }, otherwise] }] }];
}
