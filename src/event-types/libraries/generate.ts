import { readFile } from "node:fs/promises";
import type { LibraryLanguage } from "../../subjects/event-types/rules.ts";
import { describeFaults, loadFolder } from "../load.ts";
import { goTypes } from "./go.ts";
import { pythonTypes } from "./python.ts";
import { type TypedEvent, typedEvents } from "./shape.ts";
import { typescriptTypes } from "./typescript.ts";

const FOLDER = new URL("../../../../src/event-types/libraries/", import.meta.url);
/** The place of the types in a library. */
const MARKED = /^(\/\/|#) begin types$[^]*?^(\/\/|#) end types$/m;
const FILES = { ts: "publisher.ts", py: "publisher.py", go: "publisher.go" };

/** Returns the source of a library that publishes the types of the folder. Throws one error that names every fault of the folder. */
export async function generateLibrary(
  folder: string,
  language: LibraryLanguage,
  annotations: readonly string[] = [],
): Promise<string> {
  const { definitions, faults } = await loadFolder(folder, annotations);
  if (faults.length > 0) throw new Error(describeFaults(folder, faults));
  if (definitions.length === 0) throw new Error(`${folder}: holds no event type`);
  const events = typedEvents(definitions);
  const source = await readFile(new URL(FILES[language], FOLDER), "utf8");
  const types = typesOf(events, language);
  return source.replace(MARKED, (_, mark: string) => `${mark} Types of the events.\n${types}`);
}

function typesOf(events: readonly TypedEvent[], language: LibraryLanguage): string {
  switch (language) {
    case "ts":
      return typescriptTypes(events);
    case "py":
      return pythonTypes(events);
    case "go":
      return goTypes(events);
  }
}
