import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const BUILD = fileURLToPath(new URL("python-archives.py", import.meta.url));
const PYTHONS = ["python3", "/usr/bin/python3"];

/** Writes the wheel and the sdist of packages/python. */
export async function writePythonArchives(root, folder) {
  const python = await findPython();
  const copy = mkdtempSync(join(tmpdir(), "partner-api-python-")); // The build writes files.
  try {
    for (const name of ["LICENSE", "README.md", "pyproject.toml", "src"]) {
      cpSync(join(root, "packages/python", name), join(copy, name), { recursive: true });
    }
    const env = { ...process.env, SOURCE_DATE_EPOCH: await timeOfCommit(root) };
    await run(python, [BUILD, folder], { cwd: copy, env });
  } finally {
    rmSync(copy, { recursive: true });
  }
}

async function timeOfCommit(root) {
  const { stdout } = await run("git", ["log", "-1", "--format=%ct"], { cwd: root });
  return stdout.trim();
}

async function findPython() {
  for (const python of PYTHONS) {
    const found = run(python, ["-c", "import setuptools, wheel"]);
    if (await found.then(Boolean, () => false)) return python;
  }
  throw new Error("no python3 has setuptools and wheel: install them, then try again");
}
