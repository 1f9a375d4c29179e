import { readdir, readFile, realpath, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { faultOfTypeName } from "../subjects/event-types/rules.ts";
import type { FileFault } from "./definition.ts";

const TYPES_MAX = 1_000;
const FILE_BYTES_MAX = 256 * 1024;

interface TypeFile {
  /** The type's name: the file's without `.json`. */
  name: string;
  text: string;
}

/** Reads the files of a folder, in order of name. Adds each fault of the folder and of its files to `faults`. */
export async function readFolder(folder: string, faults: FileFault[]): Promise<TypeFile[]> {
  const files: TypeFile[] = [];
  for (const file of await list(folder, faults)) {
    const name = file.replace(/\.json$/, "");
    const fault = file === name ? "is not called <type>.json" : faultOfTypeName(name);
    if (fault !== null) faults.push({ file, detail: fault });
    if (file === name) continue;
    try {
      files.push({ name, text: await read(join(folder, file)) });
    } catch (error) {
      faults.push({ file, detail: (error as Error).message });
    }
  }
  return files;
}

async function list(folder: string, faults: FileFault[]): Promise<string[]> {
  try {
    const names = (await readdir(folder)).filter((name) => !isBesideTypes(name)).sort();
    if (names.length <= TYPES_MAX) return names;
    faults.push({ file: null, detail: `holds ${names.length} files, and at most ${TYPES_MAX}` });
  } catch (error) {
    faults.push({ file: null, detail: `cannot be read: ${(error as Error).message}` });
  }
  return [];
}

/** Files of editors, version control and orchestrators, and an explanation for people. */
function isBesideTypes(name: string): boolean {
  return name.startsWith(".") || name === "README.md";
}

async function read(path: string): Promise<string> {
  await requireInside(path);
  const found = await stat(path);
  if (!found.isFile()) throw new Error("is not a file");
  if (found.size > FILE_BYTES_MAX) {
    throw new Error(`is larger than ${FILE_BYTES_MAX / 1024} KiB`);
  }
  const bytes = await readFile(path);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new Error("is not UTF-8");
  }
}

/** A link within the folder is usual for orchestrators. Faults quote a file, so one from elsewhere must not be read. */
async function requireInside(path: string): Promise<void> {
  const [file, folder] = await Promise.all([realpath(path), realpath(dirname(path))]);
  if (!file.startsWith(join(folder, "/")))
    throw new Error("is a link that leads out of the folder");
}
