import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { promisify } from "node:util";
import { ROOT } from "../support/root.ts";

const execute = promisify(execFile);
const git = async (...args: string[]) => (await execute("git", args, { cwd: ROOT })).stdout.trim();

/** A commit before the first release, with an older schema. The test uses it as long as releases.json names no release. */
const STAND_IN = "5fb5455";

/** Returns the commit of the last release before this version, or else of the stand-in. Null if this clone lacks it. */
export async function findLastRelease(): Promise<{ name: string; commit: string } | null> {
  const { releases } = JSON.parse(await readFile(join(ROOT, "releases.json"), "utf8")) as {
    releases: { version: string; commit: string }[];
  };
  const last = releases.at(-1);
  const [name, commit] = last ? [last.version, last.commit] : ["the stand-in", STAND_IN];
  const found = await git("rev-parse", "--verify", "--quiet", `${commit}^{commit}`).catch(() => "");
  return found === "" ? null : { name, commit: found };
}

/** Packs the release from its commit, as `npm run release` did, and returns the folder of the unpacked archive. */
export async function unpackRelease(t: TestContext, commit: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "partner-api-release-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
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
