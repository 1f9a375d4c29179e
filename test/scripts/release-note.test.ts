import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cp, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { ROOT } from "../support/root.ts";
import { aTemporaryFolder } from "../support/temporary-folder.ts";

const { releaseNote } = (await import(join(ROOT, "scripts/release-note.js"))) as {
  releaseNote: (root: string) => Promise<Record<string, unknown>>;
};

test("a release's note names its commit and the version of its schema, and changes must be committed", async (t) => {
  const folder = await aTemporaryFolder(t);
  await cp(join(ROOT, "src/postgres/migrations"), join(folder, "src/postgres/migrations"), {
    recursive: true,
  });
  for (const path of ["package.json", "packages/go/go.mod"]) {
    await cp(join(ROOT, path), join(folder, path));
  }
  const author = ["-c", "user.name=test", "-c", "user.email=test@example.com"];
  const git = (...args: string[]) =>
    promisify(execFile)("git", [...author, ...args], { cwd: folder });
  await git("init", "--quiet");
  await git("add", ".");
  await git("commit", "--quiet", "--message", "A release");

  const { commit, schema, version } = await releaseNote(folder);
  const last = (await readdir(join(ROOT, "src/postgres/migrations"))).sort().at(-1) ?? "";
  assert.deepEqual(schema, { version: Number(last.slice(0, 4)), migration: last });
  assert.equal(commit, (await git("rev-parse", "HEAD")).stdout.trim());
  assert.match(String(version), /^\d+\.\d+\.\d+$/);

  await writeFile(join(folder, "package.json"), '{"version":"1.0.0","engines":{}}');
  await assert.rejects(releaseNote(folder), /commit these changes/);
});
