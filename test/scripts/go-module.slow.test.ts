// Depends on: scripts, packages, site, docs, src, examples, vectors, CHANGELOG.md, package.json

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { aGoProxy } from "../support/package-places.ts";
import { requireProgram } from "../support/required.ts";
import { ROOT } from "../support/root.ts";
import { aShell } from "../support/shell.ts";
import { aTemporaryFolder } from "../support/temporary-folder.ts";

interface GoModule {
  goModule: (root: string, env: { GO_MODULE?: string }) => string;
  writeGoModule: (root: string, folder: string, path: string) => Promise<string>;
}
const { goModule, writeGoModule } = (await import(join(ROOT, "scripts/go-module.js"))) as GoModule;
const { isBuilt } = (await import(join(ROOT, "scripts/compile.js"))) as {
  isBuilt: (root: string) => boolean;
};
const run = promisify(execFile);
const WRITTEN = goModule(ROOT, {});
const PUBLISHED = "github.com/acme/partner-webhook";

test("GO_MODULE is the path of the Go module, if it can be one", () => {
  assert.equal(goModule(ROOT, { GO_MODULE: PUBLISHED }), PUBLISHED);
  assert.equal(goModule(ROOT, { GO_MODULE: "" }), WRITTEN);
  for (const path of ["webhook", "https://github.com/a/b", "github.com", "github.com/a b"]) {
    assert.throws(() => goModule(ROOT, { GO_MODULE: path }), /GO_MODULE must be like/, path);
  }
});

test("a build without GO_MODULE is not the build of a release", () => {
  const root = ROOT.replace(/\/$/, "");
  assert.ok(isBuilt(root));
  process.env["GO_MODULE"] = PUBLISHED;
  try {
    assert.ok(!isBuilt(root));
  } finally {
    delete process.env["GO_MODULE"];
  }
});

test("the archive of the Go module has the path of the release everywhere", async (t) => {
  if (!(await requireProgram(t, "python3", ["--version"]))) return;
  const archive = await writeGoModule(ROOT, await aTemporaryFolder(t), PUBLISHED);
  const unpack =
    "import json, sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); print(json.dumps({n: z.read(n).decode() for n in z.namelist()}))";
  const { stdout } = await run("python3", ["-c", unpack, archive]);
  const files = JSON.parse(stdout) as Record<string, string>;
  const folder = /^(.*)\/go\.mod$/m.exec(Object.keys(files).join("\n"))?.[1] ?? "";
  assert.match(folder, /^github\.com\/acme\/partner-webhook@v\d+\.\d+\.\d+$/);
  assert.match(files[`${folder}/go.mod`] ?? "", /^module github\.com\/acme\/partner-webhook$/m);
  const names = ["LICENSE", "README.md", "go.mod", "verify.go", "verify_test.go"];
  assert.deepEqual(
    Object.keys(files).sort(),
    names.map((name) => `${folder}/${name}`),
  );
  assert.ok(!stdout.includes(WRITTEN));
});

test("the documentation of a release shows the path, and its sample builds with the published module", async (t) => {
  if (!(await requireProgram(t, "go", ["version"]))) return;
  const [docs, published] = [await aTemporaryFolder(t), await aTemporaryFolder(t)];
  const build = `
    const { buildSite } = await import("${pathToFileURL(join(ROOT, "dist/site/build.js")).href}");
    await buildSite(new URL("${pathToFileURL(docs).href}/"));`;
  const env = { ...process.env, GO_MODULE: PUBLISHED };
  await run(process.execPath, ["--input-type=module", "--eval", build], { env });
  for (const name of await readdir(docs)) {
    assert.ok(!(await readFile(join(docs, name), "utf8")).includes(WRITTEN), name);
  }
  const page = await readFile(join(docs, "markdown.verifying"), "utf8");
  const [, install = ""] = /^(go get .*)$/m.exec(page) ?? [];
  const [, sample = ""] = /```go\n(package main\n[^`]*partner-webhook"[^`]*)```/.exec(page) ?? [];
  assert.equal(install, `go get ${PUBLISHED}`);

  const shell = await aShell(t, await aGoProxy(published, PUBLISHED));
  await shell.runText("go mod init receiver");
  await shell.runText(install);
  await mkdir(join(shell.folder, "sample"), { recursive: true });
  await writeFile(join(shell.folder, "sample/main.go"), `${sample}\nfunc main() {}\n`);
  await shell.runText("go vet ./sample");
});
