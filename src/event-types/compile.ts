import type { Ajv2020, ValidateFunction } from "ajv/dist/2020.js";
import { type Fault, toFaults } from "../lib/errors.ts";
import { isObject } from "../lib/objects.ts";
import type { EventType } from "../subjects/event-types/rules.ts";
import { Bundle, FOREIGN } from "./bundle.ts";
import { costsOf, stepsOf } from "./cost.ts";
import type { Definition, FileFault } from "./definition.ts";
import { isAnnotation } from "./dialect.ts";
import { isMultiple } from "./multiple.ts";
import { patternCosts } from "./pattern-cost.ts";
import { partsOf, type Schema, SchemaIndex, subschemasOf } from "./schema-index.ts";
import { ValidationThread } from "./validation-thread.ts";

/** Faults of one event's data that are named. */
const FAULTS_MAX = 20;
/** More steps than these are left to another thread. They take a few milliseconds. */
const STEPS_MAX = 400_000;
const TOO_LARGE = " is too large to compile: it has too many members or alternatives in one place";
/** The name of the bundle in the validator. */
const BUNDLE = "types";

/**
 * Compiles the schemas of all types together. A `$ref` leads to another type by its name, with or without `.json`, or
 * by its `$id`; nothing is fetched. Adds each fault to `faults`, and leaves those types out.
 */
export async function compileTypes(
  definitions: readonly Definition[],
  faults: FileFault[],
  annotations: readonly string[] = [],
): Promise<EventType[]> {
  const create = await validators(annotations, definitions);
  const ajv = create({ allErrors: false });
  const index = new SchemaIndex(definitions);
  for (const id of new Set(index.duplicates)) {
    faults.push({ file: null, detail: `two schemas have the $id ${id}` });
  }
  const told = new Set<Definition>();
  for (const definition of definitions) check(definition);
  const usable = definitions.filter((definition) => !told.has(definition));
  const bundle = new Bundle(definitions, index);
  const references = usable.map((definition) => orTell(definition, () => bundle.add(definition)));
  const costs = costsOf(bundle.$defs, await patternCosts());
  const apart = new ValidationThread({ definitions, annotations });
  const find = memoized(() => finderOf(create, bundle));
  ajv.addSchema({ $defs: bundle.$defs }, BUNDLE);
  return usable.flatMap((definition, i) => {
    const reference = references[i] ?? null;
    if (reference === null) return [];
    const { name } = definition;
    return (
      orTell(definition, () => {
        const cost = costs(reference);
        const validate = ajv.compile({ $ref: BUNDLE + reference });
        const accepts = (data: unknown, length: number) =>
          stepsOf(cost, length) > STEPS_MAX ? null : orNull(() => validate(data));
        const check = { accepts, faultsApart: (text: string) => apart.faultsOf(name, text) };
        return { ...definition, check, faultsOf: (data: unknown) => find()(reference, data) };
      }) ?? []
    );
  });

  function check(definition: Definition): void {
    const { schema } = definition;
    if ("$async" in schema) tell(definition, "/$async is not supported");
    if (ajv.validateSchema(schema) !== true) {
      const wrong = toFaults(ajv.errors ?? [], FAULTS_MAX);
      for (const { pointer, detail } of wrong) tell(definition, `${pointer} ${detail}`);
      return;
    }
    for (const mistake of new Set(mistakesOf(schema, ajv, annotations))) {
      tell(definition, `: ${mistake}`);
    }
    for (const part of eachSchema(schema)) {
      const unable = Object.hasOwn(part, "unevaluatedItems") && unableToEvaluate(part, index);
      if (unable) tell(definition, `: ${unable}`);
    }
  }

  function orTell<Result>(definition: Definition, step: () => Result): Result | null {
    try {
      return step();
    } catch (error) {
      const isTooLarge = error instanceof RangeError;
      tell(definition, isTooLarge ? TOO_LARGE : `: ${(error as Error).message}`);
      return null;
    }
  }

  function tell(definition: Definition, detail: string): void {
    told.add(definition);
    faults.push({ file: `${definition.name}.json`, detail: `schema${detail}` });
  }
}

/** Returns what finds the faults of a type's data, by the name of a type without faults. */
export async function createFinder(
  definitions: readonly Definition[],
  annotations: readonly string[],
): Promise<(type: string) => (data: unknown) => Fault[]> {
  const bundle = new Bundle(definitions, new SchemaIndex(definitions));
  const create = await validators(annotations, definitions);
  return (type) => {
    const definition = definitions.find(({ name }) => name === type);
    if (!definition) throw new Error(`there is no type ${type}`);
    const reference = bundle.add(definition);
    const find = finderOf(create, bundle);
    return (data) => find(reference, data);
  };
}

type Create = (options: { allErrors: boolean }) => Ajv2020;

function finderOf(
  create: Create,
  { $defs }: Bundle,
): (reference: string, data: unknown) => Fault[] {
  const ajv = create({ allErrors: true });
  ajv.addSchema({ $defs }, BUNDLE);
  const compiled = new Map<string, ValidateFunction>();
  return (reference, data) => {
    const validate = compiled.get(reference) ?? ajv.compile({ $ref: BUNDLE + reference });
    compiled.set(reference, validate);
    if (validate(data)) return [];
    const violations = validate.errors ?? [];
    validate.errors = null; // They hold on to the data.
    return toFaults(violations, FAULTS_MAX);
  };
}

/** Null if the code of a large schema needs more stack than this thread has. The other thread has more. */
function orNull(check: () => boolean): boolean | null {
  try {
    return check();
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

function memoized<Value>(make: () => Value): () => Value {
  let made: Value | undefined;
  return () => (made ??= make());
}

/** Loaded when asked for: without types of a platform's own it would cost memory for nothing. */
async function validators(
  annotations: readonly string[],
  definitions: readonly Definition[],
): Promise<Create> {
  const { default: module } = await import("ajv/dist/2020.js"); // A bundle has no other name for it.
  const { default: formats } = await import("ajv-formats");
  // Costs time for each member, and matters only for a member that every object of JavaScript has.
  const ownProperties = INHERITED.test(JSON.stringify(definitions));
  return (options) => {
    const ajv = new module.Ajv2020({
      strict: false, // Mistakes are found beside, so that all are named.
      inlineRefs: false,
      validateSchema: false,
      logger: false,
      ownProperties,
      ...options,
    });
    formats.default(ajv, { keywords: false }); // It would add formatMinimum and the like.
    for (const keyword of FOREIGN) ajv.removeKeyword(keyword);
    for (const name of [...UNCHECKED_FORMATS, ...annotations]) ajv.addFormat(name, true);
    ajv.addKeyword("$anchor"); // Ajv knows anchors, but not as a keyword.
    ajv.removeKeyword("uniqueItems"); // Ajv compares each item with each other.
    ajv.addKeyword({
      ...{ keyword: "uniqueItems", type: "array", schemaType: "boolean" },
      compile: uniqueItems,
    });
    ajv.removeKeyword("multipleOf"); // Ajv divides floats, so that 19.99 would not be a multiple of 0.01.
    ajv.addKeyword({
      ...{ keyword: "multipleOf", type: "number", schemaType: "number" },
      error: { message: "", params: ({ schemaCode }) => module._`{multipleOf: ${schemaCode}}` },
      compile: (of: number) => (value: number) => isMultiple(value, of),
    });
    return ajv;
  };
}

const INHERITED = new RegExp(`"(${Object.getOwnPropertyNames(Object.prototype).join("|")})"`);
/** Formats of the specification that ajv-formats does not have. */
const UNCHECKED_FORMATS = ["idn-email", "idn-hostname", "iri", "iri-reference"];

function uniqueItems(areUnique: boolean): (items: unknown[]) => boolean {
  return areUnique ? hasNoDuplicate : () => true;
}

/** In linear time. */
function hasNoDuplicate(items: unknown[]): boolean {
  const seen = new Set<string>();
  return items.every((item) => seen.size < seen.add(canonical(item)).size);
}

/** Equal values have equal texts. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const names = Object.keys(value).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join()}}`;
}

const CURE = ": correct it, or list it in EVENT_TYPES_ANNOTATIONS";

/** What the specification permits, or leaves open, and what is most likely a mistake. */
function* mistakesOf(
  schema: Schema,
  ajv: Ajv2020,
  annotations: readonly string[],
): Generator<string> {
  const { pattern, patternProperties, format } = schema;
  for (const [keyword, value] of Object.entries(schema)) {
    if (!Object.hasOwn(ajv.RULES.keywords, keyword) && !isAnnotation(keyword, annotations)) {
      yield `unknown keyword: "${keyword}"${CURE}`;
    }
    const mistake = ruledOut(schema, keyword, ajv);
    if (mistake) yield mistake;
    const inner = (part: unknown) => (isObject(part) ? mistakesOf(part, ajv, annotations) : []);
    const parts = partsOf(keyword);
    if (parts === "itself") yield* inner(value);
    else if (parts !== null) for (const part of Object.values(value as object)) yield* inner(part);
  }
  if (typeof format === "string" && !Object.hasOwn(ajv.formats, format)) {
    yield `unknown format: "${format}"${CURE}`;
  }
  const patterns = Object.keys(isObject(patternProperties) ? patternProperties : {});
  for (const text of [...patterns, ...(typeof pattern === "string" ? [pattern] : [])]) {
    try {
      new RegExp(text, "u");
    } catch (error) {
      yield (error as Error).message;
    }
  }
}

/** Returns a sentence about a keyword that says nothing, because the `type` beside it excludes the values that it is for. */
function ruledOut(schema: Schema, keyword: string, ajv: Ajv2020): string | null {
  const types = [schema["type"] ?? []].flat().map((type) => (type === "integer" ? "number" : type));
  const groups = ajv.RULES.rules.filter(({ rules }) =>
    rules.some((rule) => rule.keyword === keyword),
  );
  const wanted = groups.map(({ type }) => type);
  const mayApply = wanted.some((type) => type === undefined || types.includes(type));
  if (wanted.length === 0 || types.length === 0 || mayApply) return null;
  return `"${keyword}" is for type "${wanted.join(" or ")}" and never applies to type ${JSON.stringify(schema["type"])}`;
}

function* eachSchema(schema: Schema): Generator<Schema> {
  yield schema;
  for (const { schema: part } of subschemasOf(schema)) yield* eachSchema(part);
}

/** Ajv does not count the items that `contains` accepts, nor those of `items` in alternatives. */
function unableToEvaluate(schema: Schema, index: SchemaIndex): string | null {
  const seen = new Set<Schema>();
  return visit(schema, false);

  function visit(part: unknown, isAlternative: boolean): string | null {
    if (!isObject(part) || seen.has(part)) return null;
    seen.add(part);
    for (const keyword of ["contains", ...(isAlternative ? ["items"] : [])]) {
      if (Object.hasOwn(part, keyword))
        return `unevaluatedItems does not work with ${keyword} in ${isAlternative ? "an alternative" : "the same schema"}`;
    }
    const { $ref, allOf, anyOf, oneOf, if: condition, then, else: otherwise } = part;
    const always = [typeof $ref === "string" ? index.resolve($ref, part) : [], allOf ?? []].flat();
    const either = [anyOf ?? [], oneOf ?? [], condition ?? [], then ?? [], otherwise ?? []].flat();
    const found = [
      ...always.map((one) => visit(one, isAlternative)),
      ...either.map((one) => visit(one, true)),
    ];
    return found.find((one) => one !== null) ?? null;
  }
}
