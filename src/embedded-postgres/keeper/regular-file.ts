import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
const BYTES_MAX = 64 * 1024;

/** The beginning of a small file, or null when there is none. Does not wait at a pipe that lies in its place. */
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

/** Opens a file, and nothing else that may lie in its place. */
export async function openRegular(path: string, flags: number, mode?: number): Promise<FileHandle> {
  const file = await open(path, flags | O_NOFOLLOW | O_NONBLOCK, mode);
  if ((await file.stat()).isFile()) return file;
  await file.close();
  throw new Error(`${path} is not a file`);
}

/** Whether an error says that there is no such file. Any other, of descriptors that have run out say, leaves that open. */
export function isAbsent(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
