import { lstat, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { handOver, type Home, makeFolder } from "./home.ts";

// A socket's whole path ends at 107 bytes (103 on macOS), 22 of which the names in the folder take.
const SHORT = 80;

// Nothing that a list of folders, a URL or a configuration file would want quoted.
const PLAIN = /^[\w./-]+$/;

const PREFIX = "partner-api-";

/**
 * Prepares the folder of the server's socket: nobody may enter it but the server's account and
 * root, which is all the authentication there is. It stays the same while anybody is attached.
 */
export async function prepareSocketFolder(home: Home): Promise<string> {
  const inside = join(home.folder, "run");
  return inside.length <= SHORT && PLAIN.test(inside)
    ? makeFolder(home, "run")
    : folderElsewhere(home);
}

/** Removes the folder that `prepareSocketFolder` made elsewhere because the home's path is too long. */
export async function dropSocketFolder(home: Home): Promise<void> {
  const folder = await recorded(home);
  if (folder === null) return;
  if (await isClosed(folder, home)) await rm(folder, { recursive: true, force: true });
  await rm(recordOf(home), { force: true });
}

/** A URL for the service, psql and everything else on libpq. */
export function socketUrl(folder: string): string {
  return `postgres://partner@${encodeURIComponent(folder)}:5432/partner`;
}

async function folderElsewhere(home: Home): Promise<string> {
  const before = await recorded(home);
  if (before !== null) {
    // Its name is known to the URL that others hold, so a lost folder is made again.
    await mkdir(before, { mode: 0o700 }).then(
      () => handOver(before, home),
      () => undefined,
    );
    if (await isClosed(before, home)) return before;
  }

  // A random name, 0700 from the start: nobody else could have made it, or be inside.
  const base = tmpdir();
  const short = base.length <= SHORT - 20 && PLAIN.test(base) ? base : "/tmp";
  const folder = await mkdtemp(join(short, PREFIX));
  await handOver(folder, home);
  await rm(recordOf(home), { force: true });
  await writeFile(recordOf(home), folder, { flag: "wx", mode: 0o600 });
  await handOver(recordOf(home), home);
  return folder;
}

async function isClosed(folder: string, home: Home): Promise<boolean> {
  const found = await lstat(folder).catch(() => null);
  if (!found?.isDirectory()) return false;
  return found.uid === home.owner.uid && (found.mode & 0o077) === 0;
}

function recordOf(home: Home): string {
  return join(home.folder, "socket-folder");
}

async function recorded(home: Home): Promise<string | null> {
  const folder = await readFile(recordOf(home), "utf8").catch(() => "");
  // Root takes nobody's word for where to make and remove folders.
  const expected = [tmpdir(), "/tmp"].includes(dirname(folder)) || !home.handOver;
  return basename(folder).startsWith(PREFIX) && expected ? folder : null;
}
