import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ROOT } from "./ready.js";
import { isSecond, sourceOf } from "./rings.js";

/** The line in which a test says why it needs a process of its own. */
const ALONE = /^\/\/ Runs alone: ./m;
/** How many files share a process. To start one and to load the service costs more than most tests. */
const TOGETHER = 12;
/** Files of this folder start programs, and take longest. */
const END_TO_END = "dist/test/end-to-end/";
const END_TO_END_TOGETHER = 4;
/** These begin first, so that no core waits for one of them at the end. */
const LONGEST =
  /(schemathesis|browser\/pages|console-busy|frameworks|ledger|catalogues|restore|failover|long-outage)\.slow/;

/**
 * Writes the programs that run these tests. In each, a file is a suite with its path as name: a failure names its file, and what a
 * file opens is closed at its end.
 */
export async function bundle(files, { folder, timeoutMs }) {
  const alone = files.filter(isAlone);
  const shared = files.filter((path) => !isAlone(path));
  const groups = [
    ...alone.filter((path) => LONGEST.test(path)),
    ...alone.filter((path) => !LONGEST.test(path)),
    ...inPieces(shared.filter(startsPrograms), END_TO_END_TOGETHER),
    ...inPieces(
      shared.filter((path) => !startsPrograms(path)),
      TOGETHER,
    ),
  ].map((group) => [group].flat());
  return Promise.all(
    groups.map(async (group, index) => {
      const path = join(folder, `${String(index).padStart(3, "0")}.test.mjs`);
      await writeFile(path, programOf(group, timeoutMs));
      return path;
    }),
  );
}

function isAlone(path) {
  return (
    isSecond(path) ||
    path.endsWith(".long.js") ||
    ALONE.test(readFileSync(join(ROOT, sourceOf(path)), "utf8"))
  );
}

function startsPrograms(path) {
  return path.startsWith(END_TO_END);
}

/** Neighbours stay together, because they load the same modules. */
function inPieces(all, most) {
  const count = Math.ceil(all.length / most);
  const bound = (piece) => Math.round((piece * all.length) / count);
  return Array.from({ length: count }, (_, i) => all.slice(bound(i), bound(i + 1)));
}

/** How long after its last test a process may live. What keeps it alive then was left open by a test. */
const LEFT_OPEN_MS = 30_000;

/** Tests of the second ring install packages of other ecosystems, and no test knows how fast a registry is. */
const SECOND_TAKES = 3;

/** Tests wait until all files are loaded, because loading one would disturb those that measure or replace time. */
function programOf(group, timeoutMs) {
  const suites = group.map((path) => {
    const [name, url] = [sourceOf(path), pathToFileURL(join(ROOT, path)).href];
    const limit = isSecond(path) ? SECOND_TAKES * timeoutMs : timeoutMs;
    return `suite(${JSON.stringify(name)}, ${JSON.stringify(url)}, ${limit});`;
  });
  return `import { after, before, describe } from "node:test";

const loaded = [];

${suites.join("\n")}
after(() => setTimeout(complain, ${LEFT_OPEN_MS}).unref());

function complain() {
  console.error("left open by a test of ${group.map(sourceOf).join(", ")}:", process.getActiveResourcesInfo().join(", "));
  process.exit(1);
}

function suite(name, url, timeout) {
  describe(name, { timeout }, () => {
    before(() => Promise.allSettled(loaded));
    const loading = import(url);
    loaded.push(loading);
    return loading;
  });
}
`;
}
