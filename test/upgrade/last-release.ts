import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, symlink } from "node:fs/promises";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { promisify } from "node:util";
import { ROOT } from "../support/root.ts";
import { aTemporaryFolder } from "../support/temporary-folder.ts";

const execute = promisify(execFile);
const git = async (...args: string[]) => (await execute("git", args, { cwd: ROOT })).stdout.trim();

const MIGRATIONS = "src/postgres/migrations";

export interface Release {
  version: string;
  commit: string;
  /** True if its schema is an older one than ours. */
  isOlder: boolean;
}

/** Returns the last release. Null if this clone lacks its commit. */
export async function findLastRelease(): Promise<Release | null> {
  const { releases } = JSON.parse(await readFile(join(ROOT, "releases.json"), "utf8")) as {
    releases: Omit<Release, "isOlder">[];
  };
  const last = releases.at(-1);
  if (!last) return null;
  const isKnown = await git("cat-file", "-e", `${last.commit}^{commit}`).then(
    () => true,
    () => false,
  );
  if (!isKnown) return null;
  const changed = await git("diff", "--name-only", last.commit, "--", MIGRATIONS);
  return { ...last, isOlder: changed !== "" };
}

/** Packs the release from its commit, as `npm run release` did, and returns the folder of the unpacked archive. */
export async function unpackRelease(t: TestContext, commit: string): Promise<string> {
  const folder = await aTemporaryFolder(t);
  const source = join(folder, "source");
  await mkdir(source);
  await execute("sh", ["-c", `git archive ${commit} | tar x -C ${source}`], { cwd: ROOT });
  await provideModules(source);
  await execute(process.execPath, ["scripts/build.js"], { cwd: source });
  await execute("npm", ["pack", "--ignore-scripts", "--pack-destination", folder], { cwd: source });
  const [archive = ""] = (await readdir(folder)).filter((name) => name.endsWith(".tgz"));
  await execute("tar", ["xzf", archive], { cwd: folder });
  await symlink(join(source, "node_modules"), join(folder, "package/node_modules"));
  return join(folder, "package");
}

/** The packages that the release's own lock file pins. Ours, if both pin the same. */
async function provideModules(source: string): Promise<void> {
  const lock = (folder: string) => readFile(join(folder, "package-lock.json"), "utf8");
  if ((await lock(source)) === (await lock(ROOT))) {
    await symlink(join(ROOT, "node_modules"), join(source, "node_modules"));
  } else {
    await execute("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: source });
  }
}
