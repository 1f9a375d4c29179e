import { lstat, mkdir } from "node:fs/promises";
import { join } from "node:path";

/** PostgreSQL's own data folder. */
export function dataOf(home: string): string {
  return join(home, "data");
}

/** A folder in which nobody but its owner has anything to do. A link in its place is not followed. */
export async function makeFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  if (!(await lstat(path)).isDirectory()) throw new Error(`${path} is not a folder`);
}
