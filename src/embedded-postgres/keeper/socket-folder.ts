import { lstat, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { makeFolder } from "./folders.ts";
import { readRegular } from "./regular-file.ts";

// A socket's whole path ends at 107 bytes (103 on macOS), 22 of which the names in the folder take.
const SHORT = 80;

// Nothing that a list of folders, a URL or a configuration file would want quoted.
const PLAIN = /^[\w./-]+$/;

const PREFIX = "partner-api-";

/**
 * Prepares the folder of the server's socket: nobody may enter it but the server's account and
 * root, which is all the authentication there is. It stays the same while anybody is attached.
 */
export async function prepareSocketFolder(home: string): Promise<string> {
  const inside = join(home, "run");
  const isShort = inside.length <= SHORT && PLAIN.test(inside);
  const folder = isShort ? inside : await folderElsewhere(home);
  await makeFolder(folder);
  return folder;
}

/** Removes the folder that `prepareSocketFolder` made elsewhere because the home's path is too long. */
export async function dropSocketFolder(home: string): Promise<void> {
  const folder = recorded(home);
  if (folder === null) return;
  if (await isClosed(folder)) await rm(folder, { recursive: true, force: true });
  await rm(recordOf(home), { force: true });
}

async function folderElsewhere(home: string): Promise<string> {
  const before = recorded(home);
  if (before !== null) {
    // Its name is known to the URL that others hold, so a lost folder is made again.
    await mkdir(before, { mode: 0o700 }).catch(() => undefined);
    if (await isClosed(before)) return before;
  }

  // A random name, 0700 from the start: nobody else could have made it, or be inside.
  const base = tmpdir();
  const short = base.length <= SHORT - 20 && PLAIN.test(base) ? base : "/tmp";
  const folder = await mkdtemp(join(short, PREFIX));
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

function recorded(home: string): string | null {
  const folder = readRegular(recordOf(home)) ?? "";
  return basename(folder).startsWith(PREFIX) ? folder : null;
}

/** The socket that the server listens at. */
export function socketIn(folder: string): string {
  return join(folder, ".s.PGSQL.5432");
}
