import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { ROOT } from "./ready.js";
import { isSecond, sourceOf } from "./rings.js";

/** The line in which a test says why it needs a process of its own. */
const ALONE = /^\/\/ Runs alone: ./m;
/** How many files share a process. To start one and to load the service costs more than most tests. */
const TOGETHER = { most: 10, "dist/test/end-to-end": 3 };

/**
 * Writes the programs that run these tests. In each, a file is a suite with its path as name: a failure names its file, and what a
 * file opens is closed at its end.
 */
export async function bundle(files, { folder, timeoutMs }) {
  const alone = files.filter(isAlone);
  const groups = [
    ...alone.map((path) => [path]),
    ...inRooms(files.filter((path) => !isAlone(path))),
  ];
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

/** Those that start programs come first, because they take longest. */
function inRooms(files) {
  const rooms = new Map([["dist/test/end-to-end", []]]);
  for (const path of files) {
    const room = dirname(path);
    rooms.set(room, [...(rooms.get(room) ?? []), path]);
  }
  return [...rooms].flatMap(([room, all]) => evenly(all, TOGETHER[room] ?? TOGETHER.most));
}

function evenly(all, most) {
  const count = Math.ceil(all.length / most);
  return Array.from({ length: count }, (_, i) => all.filter((_, at) => at % count === i));
}

/** How long after its last test a process may live. What keeps it alive then was left open by a test. */
const LEFT_OPEN_MS = 30_000;

/** Tests wait until all files are loaded, because loading one would disturb those that measure or replace time. */
function programOf(group, timeoutMs) {
  const suites = group.map((path) => {
    const [name, url] = [sourceOf(path), pathToFileURL(join(ROOT, path)).href];
    return `suite(${JSON.stringify(name)}, ${JSON.stringify(url)});`;
  });
  return `import { after, before, describe } from "node:test";

const loaded = [];

${suites.join("\n")}
after(() => setTimeout(complain, ${LEFT_OPEN_MS}).unref());

function complain() {
  console.error("left open by a test of ${group.map(sourceOf).join(", ")}:", process.getActiveResourcesInfo().join(", "));
  process.exit(1);
}

function suite(name, url) {
  describe(name, { timeout: ${timeoutMs} }, () => {
    before(() => Promise.allSettled(loaded));
    const loading = import(url);
    loaded.push(loading);
    return loading;
  });
}
`;
}
