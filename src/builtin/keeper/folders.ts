import { lstat, mkdir } from "node:fs/promises";
import { join } from "node:path";

/** PostgreSQL's data folder. */
export function dataOf(home: string): string {
  return join(home, "data");
}

/** Creates a folder that only its owner can enter. Does not follow a link in its place. */
export async function makeFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  if (!(await lstat(path)).isDirectory()) throw new Error(`${path} is not a folder`);
}
