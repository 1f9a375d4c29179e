import { isDeepStrictEqual } from "node:util";
import { escapePointer, listed } from "../lib/errors.ts";
import { isObject } from "../lib/objects.ts";
import type { Definition, FileFault } from "./definition.ts";
import { expandSchema } from "./expand.ts";
import { type Schema, SchemaIndex } from "./schema-index.ts";

/**
 * The changes between two versions of a folder that break receivers, in order of type. A receiver of the older version
 * gets the new events; one of the newer version gets the retries and redeliveries of the old ones. So both versions must
 * say the same of the members that both have, and a new member must be optional. A closed object may get no new member.
 */
export function findBreakingChanges(
  older: readonly Definition[],
  newer: readonly Definition[],
  annotations: readonly string[] = [],
): FileFault[] {
  const indexes = { older: new SchemaIndex(older), newer: new SchemaIndex(newer) };
  return older.flatMap((before) => {
    const file = `${before.name}.json`;
    const after = newer.find(({ name }) => name === before.name);
    if (!after) return [{ file, detail: "the type is removed" }];
    const expand = {
      older: (schema: Schema) => expandSchema(schema, indexes.older, annotations),
      newer: (schema: Schema) => expandSchema(schema, indexes.newer, annotations),
    };
    return changesOf(before.schema, after.schema, expand).map((detail) => ({ file, detail }));
  });
}

type Expand = (schema: Schema) => Schema;

function changesOf(
  before: Schema,
  after: Schema,
  { older, newer }: { older: Expand; newer: Expand },
): string[] {
  try {
    return [...compare(older(before), newer(after), "")];
  } catch (error) {
    if (isDeepStrictEqual(before, after)) return [];
    return [`the schema changes, and ${(error as Error).message}`];
  }
}

type Compare = (
  before: unknown,
  after: unknown,
  where: string,
  closed?: Closed,
) => Iterable<string>;

/** The rule of the older version for members that it does not name: the keyword and its schema. Null: all are permitted. */
type Closed = { keyword: string; schema: unknown } | null;

/** How each keyword is compared. Any other must stay as it is. */
const COMPARED: Record<string, Compare> = {
  type: compareTypes,
  enum: compareEnums,
  required: () => [], // Told with the members.
  items: compareEither("/*"),
  additionalProperties: compareEither("/*"),
  allOf: compareLists,
  anyOf: compareLists,
  oneOf: compareLists,
  prefixItems: (before, after, where) => compareLists(before, after, where),
  $ref: compareEither(""),
};

/** `around` holds for the parts of a schema too, such as those of `allOf`. */
function* compare(
  before: Schema,
  after: Schema,
  where: string,
  around: Closed = null,
): Generator<string> {
  const whole = closedBy(before, "unevaluatedProperties") ?? around;
  yield* compareMembers(before, after, where, closedBy(before, "additionalProperties") ?? whole);
  const keywords = new Set([...Object.keys(before), ...Object.keys(after)]);
  keywords.delete("properties");
  for (const keyword of keywords) {
    const [old, now] = [before[keyword], after[keyword]];
    if (isDeepStrictEqual(old, now)) continue;
    const how = old === undefined || now === undefined ? undefined : COMPARED[keyword];
    if (keyword === "required") continue;
    if (how) yield* how(old, now, where, whole);
    else yield `${at(where)}${keyword} ${change(old, now)}`;
  }
}

function closedBy(schema: Schema, keyword: string): Closed {
  const further = schema[keyword];
  return further === undefined ? null : { keyword, schema: further };
}

function* compareMembers(
  before: Schema,
  after: Schema,
  where: string,
  closed: Closed,
): Generator<string> {
  const [old, now] = [membersOf(before), membersOf(after)];
  for (const name of new Set([...old.keys(), ...now.keys()])) {
    const [was, is] = [old.get(name), now.get(name)];
    const path = `${where}/${escapePointer(name)}`;
    if (!is) yield `${path}: the member is removed`;
    else if (!was) {
      if (is.required) yield `${path}: the new member is required, but earlier events lack it`;
      else if (closed && !isPermitted(name, is.schema, before, closed)) {
        const { keyword, schema } = closed;
        yield `${path}: the member is new, and the older schema may refuse it (${keyword}: ${shown(schema)})`;
      }
    } else {
      if (was.required && !is.required) yield `${path}: the member is no longer required`;
      if (!was.required && is.required) {
        yield `${path}: the member becomes required, but earlier events may lack it`;
      }
      yield* compareEither("")(was.schema, is.schema, path);
    }
  }
}

function isPermitted(
  name: string,
  schema: unknown,
  { patternProperties }: Schema,
  closed: NonNullable<Closed>,
): boolean {
  const patterns = Object.keys(isObject(patternProperties) ? patternProperties : {});
  return (
    patterns.some((pattern) => new RegExp(pattern, "u").test(name)) ||
    [true, {}, schema].some((further) => isDeepStrictEqual(closed.schema, further))
  );
}

/** Those that have a schema or are required. */
function membersOf(schema: Schema): Map<string, { schema: unknown; required: boolean }> {
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  const required = Array.isArray(schema["required"]) ? (schema["required"] as string[]) : [];
  const names = new Set([...Object.keys(properties), ...required]);
  return new Map(
    [...names].map((name) => [
      name,
      {
        schema: Object.hasOwn(properties, name) ? properties[name] : {},
        required: required.includes(name),
      },
    ]),
  );
}

/** Schemas, or `true` and `false`. */
function compareEither(step: string): Compare {
  return (before, after, where, closed) => {
    const path = where + step;
    if (isObject(before) && isObject(after)) {
      return compare(before, after, path, step === "" ? closed : null);
    }
    return isDeepStrictEqual(before, after)
      ? []
      : [`${at(path)}the schema ${change(before, after)}`];
  };
}

function* compareLists(
  before: unknown,
  after: unknown,
  where: string,
  closed: Closed = null,
): Generator<string> {
  const [old, now] = [before as unknown[], after as unknown[]];
  if (old.length !== now.length) {
    yield `${at(where)}the number of subschemas changes: it was ${old.length} and is ${now.length}`;
  } else {
    for (const [i, one] of old.entries()) yield* compareEither("")(one, now[i], where, closed);
  }
}

function* compareTypes(before: unknown, after: unknown, where: string): Generator<string> {
  const [old, now] = [[before].flat() as string[], [after].flat() as string[]];
  const [gone, added] = [beside(old, now), beside(now, old)];
  if (gone.length + added.length === 0) return;
  const isNarrower = added.every((type) => type === "integer" && old.includes("number"));
  const isWider = gone.every((type) => type === "integer" && now.includes("number"));
  const how = isNarrower ? "is narrower" : isWider ? "is wider" : "changes";
  yield `${at(where)}the type ${how}: it was ${old.join(" or ")} and is ${now.join(" or ")}`;
}

function* compareEnums(before: unknown, after: unknown, where: string): Generator<string> {
  const [old, now] = [before as unknown[], after as unknown[]];
  const [gone, added] = [beside(old, now), beside(now, old)];
  if (gone.length > 0) yield `${at(where)}the enum loses ${listed(gone)}`;
  if (added.length > 0) yield `${at(where)}the enum gains ${listed(added)}`;
}

function beside<Value>(values: readonly Value[], others: readonly Value[]): Value[] {
  return values.filter((value) => !others.some((other) => isDeepStrictEqual(other, value)));
}

function change(before: unknown, after: unknown): string {
  if (before === undefined) return `is added: ${shown(after)}`;
  if (after === undefined) return `is removed: it was ${shown(before)}`;
  return `changes: it was ${shown(before)} and is ${shown(after)}`;
}

function shown(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length <= 80 ? text : `${text.slice(0, 80)}…`;
}

function at(where: string): string {
  return where === "" ? "" : `${where}: `;
}
