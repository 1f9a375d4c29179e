// Depends on: scripts, package.json, spectral

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { aTemporaryFolder } from "../support/temporary-folder.ts";
import { openPort } from "../support/free-port.ts";

const script = fileURLToPath(new URL("../../../scripts/audit.js", import.meta.url));

const ADVISORY = {
  id: 1,
  url: "https://advisories.example.com/1",
  title: "Lets everybody in",
  severity: "low",
  vulnerable_versions: "<2.0.0",
};

test("packages without known vulnerabilities pass", async (t) => {
  const { code, text } = await audit(t, { door: "1.0.0" }, answer({}));
  assert.deepEqual([code, text.trim()], [0, "1 packages without known vulnerabilities"]);
});

test("a package with a known vulnerability of any severity fails, even a development dependency", async (t) => {
  const { code, text } = await audit(t, { door: "1.0.0" }, answer({ door: [ADVISORY] }));
  assert.equal(code, 1);
  assert.match(text, /Lets everybody in/);
});

test("a registry without audits lets packages pass, with a warning", async (t) => {
  const { code, text } = await audit(t, { door: "1.0.0" }, (_request, response) => {
    response.writeHead(405).end();
  });
  assert.equal(code, 0);
  assert.match(text, /^NOT AUDITED.*405/);
});

test("an audit that fails for another reason fails", async (t) => {
  const { code, text } = await audit(t, null, answer({}));
  assert.equal(code, 1);
  assert.match(text, /lockfile/);
});

test("the packages of Spectral's folder are audited, too", async (t) => {
  const healthy = await audit(t, { door: "1.0.0" }, answer({}), { gate: "1.0.0" });
  assert.match(healthy.text, /^1 packages without known vulnerabilities in spectral$/m);
  const { code, text } = await audit(t, {}, answer({ gate: [ADVISORY] }), { gate: "1.0.0" });
  assert.equal(code, 1);
  assert.match(text, /Lets everybody in/);
});

/** Responds with these advisories, and offers one more version of any package. */
function answer(advisories: object): RequestListener {
  return ({ url = "" }, response) => {
    const name = url.slice(1);
    const versions = { "2.0.0": { name, version: "2.0.0", dist: {} } };
    const known = { name, versions, "dist-tags": { latest: "2.0.0" } };
    response.end(JSON.stringify(url.endsWith("/advisories/bulk") ? advisories : known));
  };
}

/**
 * Audits a project whose lock files have these development dependencies: the project's own, and that of its folder `spectral`.
 * Null: there is no such file.
 */
async function audit(
  t: TestContext,
  locked: Record<string, string> | null,
  registry: RequestListener,
  lockedBySpectral: Record<string, string> | null = null,
): Promise<{ code: number; text: string }> {
  const root = await aTemporaryFolder(t);
  const port = await openPort(t, createServer(registry));
  await writeProject(root, locked);
  if (lockedBySpectral) {
    await mkdir(join(root, "spectral"));
    await writeProject(join(root, "spectral"), lockedBySpectral);
  }
  const env = {
    ...process.env,
    npm_config_registry: `http://127.0.0.1:${port}`,
    npm_config_cache: join(root, "cache"),
  };
  const child = execFile(process.execPath, [script], { cwd: root, env });
  let text = "";
  child.stdout?.on("data", (more: string) => (text += more));
  const [code] = (await once(child, "close")) as [number];
  return { code, text };
}

async function writeProject(folder: string, locked: Record<string, string> | null) {
  const project = { name: "audited", version: "1.0.0", devDependencies: locked ?? {} };
  await writeFile(join(folder, "package.json"), JSON.stringify(project));
  if (locked) await writeFile(join(folder, "package-lock.json"), lockFile(project));
}

/** In the format of npm 7 and later. */
function lockFile(project: { devDependencies: Record<string, string> }): string {
  const packages = Object.entries(project.devDependencies).map(([name, version]) => [
    `node_modules/${name}`,
    { version, dev: true },
  ]);
  return JSON.stringify({
    ...project,
    lockfileVersion: 3,
    packages: Object.fromEntries([["", project], ...packages]) as object,
  });
}
