import { randomUUID } from "node:crypto";
import { link, readFile, rm, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { makePath } from "../postgres/embedded/make-path.ts";

/**
 * The content of a secret file that only we may read; null while there is none.
 */
export async function readKept(path: string): Promise<string | null> {
  try {
    return (await readFile(path, "utf8")).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

/** Whether its mode lets any user read or write a secret file. Its group may: a container's volumes are made so. */
export async function isOpenToAll(path: string): Promise<boolean> {
  try {
    return ((await stat(path)).mode & 0o006) !== 0;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}

/** Writes a secret file whole or not at all. When another process was first, its content is the answer. */
export async function keep(path: string, content: string): Promise<string> {
  const draft = `${path}.${randomUUID()}`;
  await makePath(dirname(path), 0o700);
  await writeFile(draft, `${content}\n`, { mode: 0o600, flush: true }); // Or a crash may leave it empty.
  try {
    await link(draft, path);
    return content;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return (await readKept(path)) ?? content;
  } finally {
    await rm(draft);
  }
}
