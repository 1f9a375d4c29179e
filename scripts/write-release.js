import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { billOfMaterials } from "./bill-of-materials.js";
import { writeGoModule } from "./go-module.js";
import { writePythonArchives } from "./python-archives.js";
import { LIGHT_PACKAGES } from "./light-packages.js";
import { findNpm } from "./packages.js";
import { runNode } from "./run.js";

/**
 * Writes every file that a release publishes into a new folder: the npm packages, the Python archives, the Go module, the bill of
 * materials and the note. A commit gives the same bytes each time. Returns the files' names with their SHA-256, as sha256sum does.
 */
export async function writeRelease(root, folder, note) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);

  const { signal } = new AbortController();
  const packages = [".", ...LIGHT_PACKAGES.map((path) => `./${path}`)];
  const options = ["--ignore-scripts", "--pack-destination", folder];
  await runNode("npm pack", [findNpm(), "pack", ...packages, ...options], { cwd: root, signal });
  await writePythonArchives(root, folder);
  await writeGoModule(root, folder);

  const { name, version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const writeJson = (ending, value) =>
    writeFileSync(
      join(folder, `${name}-${version}.${ending}`),
      `${JSON.stringify(value, null, 2)}\n`,
    );
  writeJson("cdx.json", await billOfMaterials(root));
  writeJson("release.json", note);

  return readdirSync(folder)
    .sort()
    .map((file) => `${digestOf(join(folder, file))}  ${file}`);
}

function digestOf(path) {
  return createHash("sha256").update(readFileSync(path)).digest("hex");
}
