import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** What each test of the second ring depended on when it last passed. Committed, so that a clean clone knows it too. */
const PASSED = "test/passed.json";
/** A test of the second ring, by the end of its file's name. */
const SECOND = ".slow.test.js";
/** The line in which a test names files and folders that it uses, besides what it imports. */
const DEPENDS_ON = /^\/\/ Depends on: (.+)$/m;
const IMPORT = /^(?:import|export) [^;]*?from "(\.[^"]+)"|^import "(\.[^"]+)"/gm;
/** Also a file that imports another test. */
const USES_DATABASE = /TEST_DATABASE_URL|import\("\.\.\//;
const NODE = process.versions.node.split(".")[0];

export function isSecond(path) {
  return path.endsWith(SECOND);
}

/** The source of a compiled test. */
export function sourceOf(path) {
  return path.replace(/^dist\//, "").replace(/\.js$/, ".ts");
}

/** Returns the tests whose dependencies are those of their last pass. A test that does not name any is never among them. */
export function unchangedSincePassed(root, paths) {
  const passed = readPassed(root);
  return paths.filter((path) => {
    const digest = digestOf(root, sourceOf(path));
    return digest !== null && passed[sourceOf(path)] === digest;
  });
}

/** Notes that these tests have passed, and forgets those that no longer exist. */
export function notePassed(root, sources) {
  const before = readPassed(root);
  const all = { ...before };
  for (const source of sources) {
    const digest = digestOf(root, source);
    if (digest !== null) all[source] = digest;
  }
  const kept = Object.entries(all).filter(([source]) => existsSync(join(root, source)));
  const text = JSON.stringify(Object.fromEntries(kept.sort()), null, 2);
  writeFileSync(join(root, PASSED), `${text}\n`);
}

/** Returns true if the test, or a file that it imports, uses the run's PostgreSQL. */
export function needsDatabase(root, path) {
  const files = [...importedBy(root, sourceOf(path))];
  return files.some((file) => USES_DATABASE.test(readFileSync(join(root, file), "utf8")));
}

function readPassed(root) {
  const file = join(root, PASSED);
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};
}

/** The digest of all that a test depends on. Null if it does not say. */
function digestOf(root, source) {
  const [, named] = DEPENDS_ON.exec(readFileSync(join(root, source), "utf8")) ?? [];
  return named === undefined ? null : digestWith(root, source, named.split(", "));
}

/** The digest of a source, of what it imports, directly or not, and of these files and folders. */
export function digestWith(root, source, named) {
  const files = filesOf(root, [...named, ...importedBy(root, source), "package-lock.json"]);
  const hash = createHash("sha256").update(`Node.js ${NODE}\n`);
  for (const path of files) {
    const content = readFileSync(join(root, path));
    hash.update(`${path} ${content.length}\n`).update(content);
  }
  return hash.digest("hex");
}

/** The file, and what it imports from the project, directly or not. */
function importedBy(root, source, found = new Set()) {
  if (found.has(source)) return found;
  found.add(source);
  for (const [, from, alone] of readFileSync(join(root, source), "utf8").matchAll(IMPORT)) {
    const path = join(source, "..", from ?? alone);
    if (existsSync(join(root, path))) importedBy(root, path, found);
  }
  return found;
}

/** The files that git knows or would add. */
function filesOf(root, paths) {
  const missing = paths.filter((path) => !existsSync(join(root, path)));
  if (missing.length > 0) throw new Error(`a test depends on ${missing.join(", ")}: not found`);
  const list = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", ...paths];
  const files = execFileSync("git", list, { cwd: root, encoding: "utf8" }).split("\0");
  return [...new Set(files)].filter((path) => path && existsSync(join(root, path))).sort();
}
