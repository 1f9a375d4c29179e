import { isObject } from "../lib/objects.ts";
import { printable } from "../lib/printable.ts";
import type { EventType } from "../subjects/event-types/rules.ts";
import { compileTypes } from "./compile.ts";
import { type Definition, type FileFault, readDefinition } from "./definition.ts";
import { readFolder } from "./folder.ts";

/** The types of a folder, in order of name, and everything that is wrong in it. */
interface Loaded {
  types: EventType[];
  /** Those whose file has a schema, right or wrong. */
  definitions: Definition[];
  faults: FileFault[];
}

/** `annotations` are keywords and formats of the schemas that say nothing of which data is valid. */
export async function loadFolder(
  folder: string,
  annotations: readonly string[] = [],
): Promise<Loaded> {
  const faults: FileFault[] = [];
  const definitions: Definition[] = [];
  for (const { name, text } of await readFolder(folder, faults)) {
    const found: string[] = [];
    const definition = readDefinition(name, text, { annotations, faults: found });
    faults.push(...found.map((detail) => ({ file: `${name}.json`, detail })));
    if (definition) definitions.push(definition);
  }
  const types = await compileTypes(definitions, faults, annotations);
  for (const type of types) faults.push(...(await faultsOfExample(type)));
  return { types, definitions, faults: inOrder(faults) };
}

async function faultsOfExample({ name, example, check }: EventType): Promise<FileFault[]> {
  if (!isObject(example)) return []; // Its fault is in the list already.
  const text = JSON.stringify(example);
  if (!check || check.accepts(example, text.length) === true) return [];
  return (await check.faultsApart(text)).map(({ pointer, detail }) => ({
    file: `${name}.json`,
    detail: `example${pointer} ${detail}`,
  }));
}

function inOrder(faults: FileFault[]): FileFault[] {
  return faults.toSorted((a, b) => ((a.file ?? "") < (b.file ?? "") ? -1 : 1));
}

/** The types of the folder. Throws one error that names every fault of every file. */
export async function loadEventTypes(
  folder: string,
  annotations: readonly string[] = [],
): Promise<EventType[]> {
  const { types, faults } = await loadFolder(folder, annotations);
  if (faults.length > 0) throw new Error(describeFaults(`EVENT_TYPES ${folder}`, faults));
  return types;
}

/** A line for each fault, below a first one that names the folder. */
export function describeFaults(folder: string, faults: readonly FileFault[]): string {
  const lines = faults.map(({ file, detail }) =>
    printable(file === null ? detail : `${file}: ${detail}`),
  );
  return [`${folder}:`, ...lines].join("\n  ");
}
