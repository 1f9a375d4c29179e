import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Makes a folder, and those above it that are missing. (Node's own recursive `mkdir` never comes back from a file system
 * that takes no folders, such as /proc.)
 */
export async function makePath(path: string, mode: number): Promise<void> {
  const fault = await make(path, mode);
  if (fault === null) return;
  if (fault.code !== "ENOENT" || dirname(path) === path) throw fault;

  await makePath(dirname(path), mode);
  const lasting = await make(path, mode);
  if (lasting !== null) throw lasting;
}

/** Null when the folder is there now, whoever made it. */
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
