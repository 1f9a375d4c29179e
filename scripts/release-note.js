import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { goModule } from "./go-module.js";

const MIGRATIONS = "src/postgres/migrations";

/** The parts of a release: its commit, the version of its schema, and what it runs on. */
export async function releaseNote(root) {
  const { name, version, engines } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  const migrations = (await readdir(join(root, MIGRATIONS)))
    .filter((one) => one.endsWith(".sql"))
    .sort();
  const last = migrations.at(-1);
  return {
    name,
    version,
    commit: await commitOf(root),
    schema: { version: Number(last.slice(0, 4)), migration: last },
    node: engines.node,
    postgresql: ">=15",
    go_module: goModule(root),
  };
}

/** Throws if the working tree has changes, because the archive would differ from the commit. */
async function commitOf(root) {
  const git = async (...args) =>
    (await promisify(execFile)("git", args, { cwd: root })).stdout.trim();
  const changed = await git("status", "--porcelain", "--untracked-files=no");
  if (changed !== "") throw new Error(`commit these changes before a release:\n${changed}`);
  return git("rev-parse", "HEAD");
}
