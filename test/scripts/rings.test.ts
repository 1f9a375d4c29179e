import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import { ROOT } from "../support/root.ts";
import { aTemporaryFolder } from "../support/temporary-folder.ts";

const { notePassed, unchangedSincePassed } = (await import(join(ROOT, "scripts/rings.js"))) as {
  notePassed: (root: string, sources: string[]) => void;
  unchangedSincePassed: (root: string, paths: string[]) => string[];
};

const SOURCE = "test/site/guide.slow.test.ts";
const COMPILED = `dist/${SOURCE.replace(/ts$/, "js")}`;

/** A project with one test of the second ring that has passed. */
async function aProject(t: TestContext, head = "// Depends on: site, examples/verify.py\n") {
  const root = await aTemporaryFolder(t);
  const write = async (path: string, text: string) => {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  };
  await write(SOURCE, `${head}\nimport { a } from "../support/a.ts";\n`);
  await write("test/support/a.ts", 'export * from "./b.ts";\n');
  await write("test/support/b.ts", "export const a = 1;\n");
  await write("site/pages/start.md", "Start\n");
  await write("examples/verify.py", "pass\n");
  await write("package-lock.json", "{}\n");
  await write(".gitignore", "built/\n");
  execFileSync("git", ["init", "--quiet"], { cwd: root });
  notePassed(root, [SOURCE]);
  return { root, write, isUnchanged: () => unchangedSincePassed(root, [COMPILED]).length === 1 };
}

for (const [what, path] of [
  ["itself", SOURCE],
  ["what it imports", "test/support/a.ts"],
  ["what that imports", "test/support/b.ts"],
  ["a file in a folder that it names", "site/pages/start.md"],
  ["a file that it names", "examples/verify.py"],
  ["the versions of the packages", "package-lock.json"],
] as const) {
  test(`a slow test runs again after a change of ${what}`, async (t) => {
    const { write, isUnchanged } = await aProject(t);
    assert.ok(isUnchanged());
    await write(path, "// Depends on: site, examples/verify.py\n// changed\n");
    assert.equal(isUnchanged(), false);
  });
}

test("a slow test runs again after a file was added to a folder that it names, or deleted from it", async (t) => {
  const { write, isUnchanged } = await aProject(t);
  await write("site/pages/built/other.html", "");
  await write("src/other.ts", "");
  assert.ok(isUnchanged(), "neither is part of it");
  await write("site/pages/other.md", "");
  assert.equal(isUnchanged(), false);
});

test("a slow test that names no dependencies runs each time", async (t) => {
  const { isUnchanged } = await aProject(t, "");
  assert.equal(isUnchanged(), false);
});

test("a dependency that does not exist is an error", async (t) => {
  await assert.rejects(aProject(t, "// Depends on: site, nowhere\n"), /nowhere: not found/);
});
