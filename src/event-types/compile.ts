import type { Ajv2020, ValidateFunction } from "ajv/dist/2020.js";
import type { EventType } from "../domain/event-types.ts";
import { toFaults } from "../domain/violation.ts";
import type { Definition, FileFault } from "./definition.ts";

const DRAFT = "https://json-schema.org/draft/2020-12/schema";
/** Faults of one event's data that are named. */
const FAULTS_MAX = 20;

/**
 * Compiles the schemas of all types together. A `$ref` leads to another type by its name, with or without `.json`, or
 * by its `$id`; nothing is fetched. Adds each fault to `faults`, and leaves those types out.
 */
export async function compileTypes(
  definitions: readonly Definition[],
  faults: FileFault[],
): Promise<EventType[]> {
  const remarks: string[] = [];
  const ajv = await createValidator((remark) => remarks.push(remark));
  const told = new Map<Definition, string[]>();
  const usable = definitions.filter((definition) => orTell(definition, () => add(definition)));
  const compiled = new Map<Definition, ValidateFunction | null>();
  for (const definition of usable) compile(definition);
  return usable.flatMap((definition) => {
    const validate = compiled.get(definition);
    return validate ? [toType(definition, validate)] : [];
  });

  function add(definition: Definition): boolean {
    const { name, schema } = definition;
    if ((schema["$schema"] ?? DRAFT) !== DRAFT) {
      tell(definition, `/$schema must be ${DRAFT}`);
      return false;
    }
    if (ajv.validateSchema(schema) !== true) {
      const wrong = toFaults(ajv.errors ?? [], FAULTS_MAX);
      for (const { pointer, detail } of wrong) tell(definition, `${pointer} ${detail}`);
      return false;
    }
    ajv.addSchema(schema, name);
    ajv.addSchema(schema, `${name}.json`);
    return true;
  }

  /** Referenced types come first, so that each fault is reported for its own file. */
  function compile(definition: Definition): void {
    if (compiled.has(definition)) return;
    compiled.set(definition, null);
    const others = referencesOf(definition, usable);
    for (const other of others) compile(other);

    remarks.length = 0;
    const validate = orTell(definition, () => ajv.compile(definition.schema));
    if (validate === null) return;
    if ("$async" in validate) tell(definition, "/$async is not supported");
    const known = others.flatMap((other) => told.get(other) ?? []).map(withoutPlace);
    for (const remark of new Set(remarks)) {
      if (!known.includes(withoutPlace(remark))) tell(definition, `: ${remark}`);
    }
    if (!told.has(definition)) compiled.set(definition, validate);
  }

  function orTell<Result>(definition: Definition, step: () => Result): Result | null {
    try {
      return step();
    } catch (error) {
      tell(definition, `: ${(error as Error).message}`);
      return null;
    }
  }

  function tell(definition: Definition, what: string): void {
    const detail = what.replace("strict mode: ", "");
    told.set(definition, [...(told.get(definition) ?? []), detail]);
    faults.push({ file: `${definition.name}.json`, detail: `schema${detail}` });
  }
}

function withoutPlace(remark: string): string {
  return remark.replace(/^(: )?(strict mode: )?/, "").replace(/ at ".*"/, "");
}

/** Loaded when asked for: without types of a platform's own it would cost memory for nothing. */
async function createValidator(onRemark: (remark: string) => void): Promise<Ajv2020> {
  const { Ajv2020 } = await import("ajv/dist/2020.js");
  const { default: formats } = await import("ajv-formats");
  const ajv = new Ajv2020({
    allErrors: true,
    // Strict mode reports instead of throwing, so that all faults are found at once.
    strict: "log",
    strictRequired: false, // `anyOf: [{ required: ["a"] }, { required: ["b"] }]` is no mistake.
    strictTuples: false,
    allowUnionTypes: true,
    inlineRefs: false,
    validateSchema: false, // It is done beside, with a fault for each mistake.
    logger: { log: onRemark, warn: onRemark, error: () => undefined },
  });
  formats.default(ajv);
  return ajv;
}

function toType(definition: Definition, validate: ValidateFunction): EventType {
  return {
    ...definition,
    faultsOf: (data) => {
      if (validate(data)) return [];
      const violations = validate.errors ?? [];
      validate.errors = null; // They hold on to the data.
      return toFaults(violations, FAULTS_MAX);
    },
  };
}

/** Other types of the folder that a schema refers to by name, file or `$id`. */
function referencesOf({ schema }: Definition, definitions: readonly Definition[]): Definition[] {
  const wanted = new Set(
    [...refsIn(schema)].map((ref) => ref.replace(/#.*$/, "")).filter((target) => target !== ""),
  );
  return definitions.filter(({ name, schema: { $id } }) =>
    [name, `${name}.json`, $id].some((id) => typeof id === "string" && wanted.has(id)),
  );
}

function* refsIn(value: unknown): Generator<string> {
  if (typeof value !== "object" || value === null) return;
  for (const [key, member] of Object.entries(value)) {
    if (/^\$(dynamicRef|ref)$/.test(key) && typeof member === "string") yield member;
    else yield* refsIn(member);
  }
}
