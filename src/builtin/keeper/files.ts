import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { type FileHandle, lstat, mkdir, mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { PRODUCT } from "../home.ts";

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

const READ_MAX = 64 * 1024;
const LOG_MAX = 16 * 1024 * 1024;

// The path of a socket has at most 107 bytes (103 on macOS). The names in the folder take 22 of them.
const SHORT = 80;
// Characters that need no quotes in a list of folders, a URL or a configuration file.
const PLAIN = /^[\w./-]+$/;

/** PostgreSQL's data folder. */
export const dataOf = (home: string): string => join(home, "data");
/** The path of PostgreSQL's log. */
export const logOf = (home: string): string => join(home, "server.log");
/** The path of the server's socket. */
export const socketIn = (folder: string): string => join(folder, ".s.PGSQL.5432");
/** The file that names the socket's folder if that lies elsewhere. */
const recordOf = (home: string): string => join(home, "socket-folder");

/** Creates a folder that only its owner can enter. Does not follow a link in its place. */
export async function makeFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  if (!(await lstat(path)).isDirectory()) throw new Error(`${path} is not a folder`);
}

/** Reads a file, at most 64 KiB from `offset` on. Returns null if there is none. Does not block on a pipe in its place. */
export function readRegular(path: string, offset = 0): string | null {
  let fd: number;
  try {
    fd = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    if (isAbsent(error)) return null;
    throw error;
  }
  try {
    if (!fstatSync(fd).isFile()) throw new Error(`${path} is not a file`);
    const buffer = Buffer.alloc(READ_MAX);
    return buffer.toString("utf8", 0, readSync(fd, buffer, 0, READ_MAX, offset));
  } finally {
    closeSync(fd);
  }
}

/** Returns true if the file does not exist. After any other error, such as a lack of descriptors, it may exist. */
export function isAbsent(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "ENOENT";
}

/**
 * Opens the server's log. Throws if it is anything but a regular file. Truncates a long one: a server that refuses connections
 * writes a line for each.
 */
export async function openLog(home: string): Promise<FileHandle> {
  const file = await open(logOf(home), "a+", 0o600);
  try {
    const found = await file.stat();
    if (!found.isFile()) throw new Error(`${logOf(home)} is not a file`);
    if (found.size > LOG_MAX) await file.truncate();
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/**
 * Prepares the folder of the server's socket. Only the server's account and root may enter it. This is the only authentication. The
 * folder stays the same while a process is attached.
 */
export async function prepareSocketFolder(home: string): Promise<string> {
  const inside = join(home, "run");
  const isShort = inside.length <= SHORT && PLAIN.test(inside);
  const folder = isShort ? inside : await folderElsewhere(home);
  await makeFolder(folder);
  return folder;
}

/** Removes the folder that `prepareSocketFolder` created elsewhere because the home's path is too long. */
export async function dropSocketFolder(home: string): Promise<void> {
  const folder = recorded(home);
  if (folder === null) return;
  if (await isClosed(folder)) await rm(folder, { recursive: true, force: true });
  await rm(recordOf(home), { force: true });
}

async function folderElsewhere(home: string): Promise<string> {
  const before = recorded(home);
  if (before !== null) {
    // Other processes hold a URL with this name, so a lost folder is created again.
    await mkdir(before, { mode: 0o700 }).catch(() => undefined);
    if (await isClosed(before)) return before;
  }

  // The name is random and the mode 0700 from the start, so nobody else created or entered it.
  const base = tmpdir();
  const short = base.length <= SHORT - 20 && PLAIN.test(base) ? base : "/tmp";
  const folder = await mkdtemp(join(short, `${PRODUCT}-`));
  await rm(recordOf(home), { force: true });
  await writeFile(recordOf(home), folder, { flag: "wx", mode: 0o600 });
  return folder;
}

async function isClosed(folder: string): Promise<boolean> {
  const found = await lstat(folder).catch(() => null);
  if (!found?.isDirectory()) return false;
  return found.uid === process.geteuid?.() && (found.mode & 0o077) === 0;
}

function recorded(home: string): string | null {
  const folder = readRegular(recordOf(home)) ?? "";
  return basename(folder).startsWith(`${PRODUCT}-`) ? folder : null;
}
