import type { Fault } from "../lib/errors.ts";
import { isObject } from "../lib/objects.ts";
import type { EventType } from "../subjects/event-types/rules.ts";
import { faultsOfJson } from "../subjects/events/json-document.ts";
import { isAnnotation, toDraft2020 } from "./dialect.ts";

/** The content of a type's file. Its schema is not compiled yet. */
export interface Definition extends Pick<
  EventType,
  "name" | "summary" | "description" | "schema" | "example"
> {
  schema: Record<string, unknown>;
}

/** A fault of a file of the folder. `file` is null for the folder itself. */
export interface FileFault {
  file: string | null;
  detail: string;
}

const SUMMARY_LENGTH_MAX = 200;
/** The levels of a file that is read. */
const DEPTH_MAX = 500;
const FAULTS_MAX = 20;
/** How the faults of a number and of a character begin. */
const [NUMBER, CHARACTER] = ["must be a number", "must not contain"];
const MEMBERS = ["summary", "description", "schema", "example"];

/**
 * Reads the text of a type's file and adds each fault to `faults`. A type with a schema is returned in any case, so that the
 * faults of the schema are found, too.
 */
export function readDefinition(
  name: string,
  text: string,
  { annotations, faults }: { annotations: readonly string[]; faults: string[] },
): Definition | null {
  const file = parse(text, faults);
  if (file === null) return null;

  for (const member of Object.keys(file)) {
    if (!MEMBERS.includes(member)) faults.push(`unknown member ${member}`);
  }
  const { summary, description, schema, example } = file;
  if (!isSummary(summary)) {
    faults.push(`summary must be one line of 1 to ${SUMMARY_LENGTH_MAX} characters`);
  }
  if (description !== undefined && typeof description !== "string") {
    faults.push("description must be a string");
  }
  if (!isObject(schema)) faults.push("schema must be an object");
  if (!isObject(example)) faults.push("example must be an object");

  if (!isObject(schema)) return null;
  const translated = toDraft2020(schema, {
    isAnnotation: (keyword) => isAnnotation(keyword, annotations),
    tell: (pointer, detail) => faults.push(`schema${pointer} ${detail}`),
  });
  return { ...(file as Omit<Definition, "name">), name, schema: translated };
}

function parse(text: string, faults: string[]): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    faults.push(...lostOf(text));
    if (isObject(value)) return value;
    faults.push("must be a JSON object");
  } catch (error) {
    faults.push(`is not valid JSON: ${(error as Error).message}`);
  }
  return null;
}

/** What reading the file would lose. */
function lostOf(text: string): string[] {
  const steps = faultsOfJson(text, { depthMax: DEPTH_MAX, faultsMax: FAULTS_MAX });
  for (;;) {
    const { done, value: found } = steps.next();
    if (!done) continue;
    return found
      .filter((fault) => !isOfDataAlone(fault))
      .map(({ pointer, detail }) => `${pointer.slice(1)} ${detail}`);
  }
}

/** Bounds of a schema may be larger than any number of an event, and a pattern may name any character. */
function isOfDataAlone({ pointer, detail }: Fault): boolean {
  if (!pointer.startsWith("/schema/")) return false;
  const isOfPattern = pointer.endsWith("/pattern") && detail.startsWith(CHARACTER);
  return detail.startsWith(NUMBER) || isOfPattern;
}

function isSummary(value: unknown): boolean {
  return (
    typeof value === "string" &&
    value.trim() !== "" &&
    value.length <= SUMMARY_LENGTH_MAX &&
    !/[\r\n]/.test(value)
  );
}
