// Depends on: packages, vectors, package.json, LICENSE

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cp, readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { promisify } from "node:util";
import { requireProgram } from "../support/required.ts";
import { ROOT } from "../support/root.ts";
import { readVectors } from "../webhook/vectors/read.ts";
import { aTemporaryFolder } from "../support/temporary-folder.ts";

const execute = promisify(execFile);
const env = { ...process.env, VECTORS: join(ROOT, "vectors/signature.json") };
const vectors = readVectors().length;

for (const name of ["python", "go"]) {
  test(`the package for ${name} has the licence`, async () => {
    const textAt = (...path: string[]) => readFile(join(ROOT, ...path, "LICENSE"), "utf8");
    assert.equal(await textAt("packages", name), await textAt());
  });
}

const { version } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")) as {
  version: string;
};

test("the Python package has the version of the service", async () => {
  const project = await readFile(join(ROOT, "packages/python/pyproject.toml"), "utf8");
  assert.equal(/^version = "(.*)"$/m.exec(project)?.[1], version);
});

/** A copy of a package, because its tests and its build write files. */
async function aCopy(t: TestContext, name: string): Promise<string> {
  const folder = await aTemporaryFolder(t);
  await cp(join(ROOT, "packages", name), folder, { recursive: true });
  return folder;
}

test("the Python package passes its tests over every vector", async (t) => {
  if (!(await requireProgram(t, "pytest", ["--version"]))) return;
  const cwd = await aCopy(t, "python");
  const options = ["-q", "-p", "no:cacheprovider", "tests"];
  const { stdout } = await execute("pytest", options, { cwd, env: { ...env, PYTHONPATH: "src" } });
  const [, passed = "0"] = /^(\d+) passed/m.exec(stdout) ?? [];
  assert.ok(Number(passed) >= vectors, stdout);
});

test("the Python package is typed, and builds to one wheel with only its code", async (t) => {
  if (!(await requireProgram(t, "/usr/bin/python3", ["-c", "import setuptools, wheel, pip"])))
    return;
  const cwd = await aCopy(t, "python");
  const options = ["--no-deps", "--no-build-isolation", "--no-index", "-q", "-w", "out", "."];
  await execute("/usr/bin/python3", ["-m", "pip", "wheel", ...options], { cwd });
  const [wheel = "", ...more] = await readdir(join(cwd, "out"));
  assert.deepEqual([wheel, more], [`partner_api_webhook-${version}-py3-none-any.whl`, []]);
  const list = "import sys, zipfile; print(*zipfile.ZipFile(sys.argv[1]).namelist(), sep='\\n')";
  const { stdout } = await execute("/usr/bin/python3", ["-c", list, join(cwd, "out", wheel)]);
  const files = stdout.trimEnd().split("\n");
  assert.deepEqual(files.filter((path) => !path.includes(".dist-info/")).sort(), [
    "partner_api_webhook/__init__.py",
    "partner_api_webhook/py.typed",
  ]);
});

test("the Go module passes its tests over every vector, and go vet finds nothing", async (t) => {
  if (!(await requireProgram(t, "go", ["version"]))) return;
  const cwd = await aCopy(t, "go");
  const offline = { ...env, GOTOOLCHAIN: "local", GOPROXY: "off", GOFLAGS: "" };
  const { stdout } = await execute("go", ["test", "-v", "."], { cwd, env: offline });
  assert.ok(stdout.match(/^ {4}--- PASS: TestVectors\//gm)?.length === vectors, stdout);
  await execute("go", ["vet", "."], { cwd, env: offline });
});
