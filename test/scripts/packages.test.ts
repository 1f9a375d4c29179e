import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { ROOT } from "../support/root.ts";
import { aTemporaryFolder } from "../support/temporary-folder.ts";

const script = new URL("../../../scripts/packages.js", import.meta.url);
const { areInstalled } = (await import(script.href)) as {
  areInstalled: (root: string, options: { dev: boolean }) => boolean;
};

const locked = {
  "": { version: "1.0.0" },
  "node_modules/web": { version: "2.0.0" },
  "node_modules/linter": { version: "3.0.0", dev: true },
  "node_modules/database": { version: "4.0.0", optional: true },
  "node_modules/database-here": { version: "4.0.0", optional: true, os: [process.platform] },
  "node_modules/database-elsewhere": { version: "4.0.0", optional: true, os: ["beos"] },
};
const complete = without(locked, "", "node_modules/database-elsewhere");

const CASES: [what: string, present: object | null, forUse: boolean, forWork: boolean][] = [
  ["everything that this machine supports is installed", complete, true, true],
  ["nothing is installed, or an install was interrupted", null, false, false],
  [
    "a package has another version",
    { ...complete, "node_modules/web": { version: "2.0.1" } },
    false,
    false,
  ],
  ["a package is missing", without(complete, "node_modules/web"), false, false],
  [
    "the packages for development are missing",
    without(complete, "node_modules/linter"),
    true,
    false,
  ],
  [
    "optional packages were left out",
    without(complete, "node_modules/database", "node_modules/database-here"),
    true,
    true,
  ],
  [
    "an optional package for this machine is missing",
    without(complete, "node_modules/database-here"),
    false,
    false,
  ],
];

for (const [what, present, forUse, forWork] of CASES) {
  test(`${what}: ${forUse ? "good" : "not good"} to run, ${forWork ? "good" : "not good"} to build`, async (t) => {
    const root = await aCheckout(t, present);
    assert.equal(areInstalled(root, { dev: false }), forUse);
    assert.equal(areInstalled(root, { dev: true }), forWork);
  });
}

test("a start installs no client of a broker: they are for development, or the platform installs them", async () => {
  const read = async (path: string): Promise<unknown> =>
    JSON.parse(await readFile(join(ROOT, path), "utf8"));
  const { peerDependencies } = (await read("packages/bridge/package.json")) as {
    peerDependencies: Record<string, string>;
  };
  const { packages } = (await read("package-lock.json")) as {
    packages: Record<string, { dev?: boolean }>;
  };
  const clients = Object.keys(peerDependencies).filter((name) => name !== "pg");
  assert.ok(clients.length >= 6);
  for (const name of clients) assert.equal(packages[`node_modules/${name}`]?.dev, true, name);
});

function without(packages: object, ...names: string[]): object {
  return Object.fromEntries(Object.entries(packages).filter(([name]) => !names.includes(name)));
}

async function aCheckout(t: TestContext, present: object | null): Promise<string> {
  const root = await aTemporaryFolder(t);
  await mkdir(join(root, "node_modules"));
  const files = { "package-lock.json": locked, "node_modules/.package-lock.json": present };
  for (const [name, packages] of Object.entries(files)) {
    if (packages) await writeFile(join(root, name), JSON.stringify({ packages }));
  }
  return root;
}
