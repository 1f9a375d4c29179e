import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { areLightPackagesFilled, fillLightPackages } from "./light-packages.js";
import { runNode } from "./run.js";

const FOLDERS = ["src", "test", "bench", "site"];
/** The documentation includes these files. */
const EXAMPLES = "examples";
/** The console's sources have a compilation of their own, for browsers. */
const CONSOLE = "site/console";
/** The bench writes this file. */
const RESULTS = "bench/results.json";
const STAMP = "dist/.stamp";
const TSC_STATE = "dist/.tsbuildinfo";
/** Other files that the build depends on. */
const OTHER_FILES = ["CHANGELOG.md", "tsconfig.json", "package-lock.json"];
const DOCS = "dist/docs/site.json";

/** Returns true if dist was built from these sources. Compares contents, because a clone has new dates. */
export function isBuilt(root) {
  const stamp = join(root, STAMP);
  return existsSync(stamp) && readFileSync(stamp, "utf8") === contentsOf(root) && hasAll(root);
}

/** Compiles the sources into dist, removes leftovers of deleted sources and writes the documentation. */
export async function build(root, signal) {
  const stamp = contentsOf(root); // Read before compiling, so that an edit meanwhile causes a new build.
  rmSync(join(root, STAMP), { force: true });
  const compiler = join(root, "node_modules/typescript/lib/tsc.js");
  const compile = () => runNode("tsc", [compiler], { cwd: root, signal });

  await compile();
  removeLeftovers(root);
  if (!isComplete(root)) {
    rmSync(join(root, TSC_STATE), { force: true }); // With this state, tsc would not write the missing outputs again.
    await compile();
  }
  await fillLightPackages(root);
  await runNode("tsc", [compiler, "--project", CONSOLE], { cwd: root, signal });
  await runNode("docs", [join(root, "dist/site/main.js")], { cwd: root, signal });
  writeFileSync(join(root, STAMP), stamp);
}

/** The paths of the compiled tests. With `long`, also of those that take minutes. */
export function compiledTests(root, { long = false } = {}) {
  return outputsOf(root).filter(
    (path) => path.endsWith(".test.js") || (long && path.endsWith(".long.js")),
  );
}

function sourcesOf(root) {
  const files = FOLDERS.flatMap((folder) => filesBelow(root, folder));
  return files.filter((path) => path !== RESULTS);
}

function filesBelow(root, folder) {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .sort();
}

function contentsOf(root) {
  const hash = createHash("sha256");
  for (const path of [...sourcesOf(root), ...filesBelow(root, EXAMPLES), ...OTHER_FILES]) {
    const content = readFileSync(join(root, path));
    hash.update(`${path} ${content.length}\n`).update(content);
  }
  hash.update(process.env.GO_MODULE ?? ""); // The documentation names it.
  return hash.digest("hex");
}

function outputsOf(root) {
  return sourcesOf(root)
    .filter((path) => path.endsWith(".ts") && !path.endsWith(".d.ts"))
    .filter((path) => !path.startsWith(`${CONSOLE}/`))
    .map((path) => join("dist", path.replace(/\.ts$/, ".js")));
}

function hasAll(root) {
  return isComplete(root) && areLightPackagesFilled(root) && existsSync(join(root, DOCS));
}

function isComplete(root) {
  return outputsOf(root).every((path) => existsSync(join(root, path)));
}

function removeLeftovers(root) {
  const outputs = new Set(outputsOf(root));
  for (const path of FOLDERS.flatMap((folder) => filesBelow(root, join("dist", folder)))) {
    if (!outputs.has(path.replace(/\.d\.ts$/, ".js"))) rmSync(join(root, path));
  }
}
