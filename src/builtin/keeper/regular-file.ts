import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
const BYTES_MAX = 64 * 1024;

/** Reads the beginning of a file. Returns null if there is none. Does not block on a pipe in its place. */
export function readRegular(path: string): string | null {
  let fd: number;
  try {
    fd = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    if (isAbsent(error)) return null;
    throw error;
  }
  try {
    if (!fstatSync(fd).isFile()) throw new Error(`${path} is not a file`);
    const buffer = Buffer.alloc(BYTES_MAX);
    return buffer.toString("utf8", 0, readSync(fd, buffer));
  } finally {
    closeSync(fd);
  }
}

/** Opens a regular file. Throws if the path is anything else. */
export async function openRegular(path: string, flags: number, mode?: number): Promise<FileHandle> {
  const file = await open(path, flags | O_NOFOLLOW | O_NONBLOCK, mode);
  if ((await file.stat()).isFile()) return file;
  await file.close();
  throw new Error(`${path} is not a file`);
}

/** Returns true if the file does not exist. After any other error, such as a lack of descriptors, it may exist. */
export function isAbsent(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
