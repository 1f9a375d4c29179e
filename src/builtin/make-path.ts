import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Creates a folder and its missing parents. Node.js's recursive `mkdir` does not return on a file system without folders to
 * create, such as /proc.
 */
export async function makePath(path: string, mode: number): Promise<void> {
  const fault = await make(path, mode);
  if (fault === null) return;
  if (fault.code !== "ENOENT" || dirname(path) === path) throw fault;

  await makePath(dirname(path), mode);
  const lasting = await make(path, mode);
  if (lasting !== null) throw lasting;
}

/** Returns null if the folder exists now. */
async function make(path: string, mode: number): Promise<NodeJS.ErrnoException | null> {
  try {
    await mkdir(path, { mode });
    return null;
  } catch (error) {
    const fault = error as NodeJS.ErrnoException;
    const isThere = fault.code === "EEXIST" && (await stat(path)).isDirectory();
    return isThere ? null : fault;
  }
}
