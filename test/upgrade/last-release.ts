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

/** A commit before the first release, with an older schema than any release. */
const STAND_IN = { version: "the stand-in", commit: "5fb5455" };

export interface Release {
  version: string;
  commit: string;
  /** True if its schema is an older one than ours. */
  isOlder: boolean;
}

/**
 * The last release. If its schema is ours, the stand-in too, because then the release by itself would not show how older code
 * works with a newer schema. Empty if this clone lacks a commit.
 */
export async function findReleases(): Promise<Release[]> {
  const { releases } = JSON.parse(await readFile(join(ROOT, "releases.json"), "utf8")) as {
    releases: Omit<Release, "isOlder">[];
  };
  const found: Release[] = [];
  for (const { version, commit } of [...releases.slice(-1), STAND_IN]) {
    const isKnown = await git("cat-file", "-e", `${commit}^{commit}`).then(
      () => true,
      () => false,
    );
    if (!isKnown) return [];
    const changed = await git("diff", "--name-only", commit, "--", MIGRATIONS);
    found.push({ version, commit, isOlder: changed !== "" });
    if (changed !== "") break;
  }
  return found;
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
