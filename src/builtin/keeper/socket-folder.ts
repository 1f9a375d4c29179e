import { lstat, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { Names } from "../names.ts";
import { makeFolder } from "./folders.ts";
import { readRegular } from "./regular-file.ts";

// The path of a socket has at most 107 bytes (103 on macOS). The names in the folder take 22 of them.
const SHORT = 80;

// Characters that need no quotes in a list of folders, a URL or a configuration file.
const PLAIN = /^[\w./-]+$/;

/**
 * Prepares the folder of the server's socket. Only the server's account and root may enter it. This is the only authentication. The
 * folder stays the same while a process is attached.
 */
export async function prepareSocketFolder(home: string, names: Names): Promise<string> {
  const inside = join(home, "run");
  const isShort = inside.length <= SHORT && PLAIN.test(inside);
  const folder = isShort ? inside : await folderElsewhere(home, prefixOf(names));
  await makeFolder(folder);
  return folder;
}

/** Removes the folder that `prepareSocketFolder` created elsewhere because the home's path is too long. */
export async function dropSocketFolder(home: string, names: Names): Promise<void> {
  const folder = recorded(home, prefixOf(names));
  if (folder === null) return;
  if (await isClosed(folder)) await rm(folder, { recursive: true, force: true });
  await rm(recordOf(home), { force: true });
}

async function folderElsewhere(home: string, prefix: string): Promise<string> {
  const before = recorded(home, prefix);
  if (before !== null) {
    // Other processes hold a URL with this name, so a lost folder is created again.
    await mkdir(before, { mode: 0o700 }).catch(() => undefined);
    if (await isClosed(before)) return before;
  }

  // The name is random and the mode 0700 from the start, so nobody else created or entered it.
  const base = tmpdir();
  const short = base.length <= SHORT - 20 && PLAIN.test(base) ? base : "/tmp";
  const folder = await mkdtemp(join(short, prefix));
  await rm(recordOf(home), { force: true });
  await writeFile(recordOf(home), folder, { flag: "wx", mode: 0o600 });
  return folder;
}

async function isClosed(folder: string): Promise<boolean> {
  const found = await lstat(folder).catch(() => null);
  if (!found?.isDirectory()) return false;
  return found.uid === process.geteuid?.() && (found.mode & 0o077) === 0;
}

function recordOf(home: string): string {
  return join(home, "socket-folder");
}

function prefixOf({ product }: Names): string {
  return `${product}-`;
}

function recorded(home: string, prefix: string): string | null {
  const folder = readRegular(recordOf(home)) ?? "";
  return basename(folder).startsWith(prefix) ? folder : null;
}

/** The path of the server's socket. */
export function socketIn(folder: string): string {
  return join(folder, ".s.PGSQL.5432");
}
