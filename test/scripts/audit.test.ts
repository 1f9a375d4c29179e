import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";

const script = fileURLToPath(new URL("../../../scripts/audit.js", import.meta.url));

const ADVISORY = {
  id: 1,
  url: "https://advisories.example.com/1",
  title: "Lets everybody in",
  severity: "low",
  vulnerable_versions: "<2.0.0",
};

test("packages of which the registry knows no hole pass the gate", async (t) => {
  const { code, text } = await audit(t, { door: "1.0.0" }, answer({}));
  assert.deepEqual([code, text.trim()], [0, "1 packages, none with a known hole"]);
});

test("a package with a known hole does not, whatever it is for and however small the hole", async (t) => {
  const { code, text } = await audit(t, { door: "1.0.0" }, answer({ door: [ADVISORY] }));
  assert.equal(code, 1);
  assert.match(text, /Lets everybody in/);
});

test("a registry that answers no audits lets them pass, and it is said that nobody has looked", async (t) => {
  const { code, text } = await audit(t, { door: "1.0.0" }, (_request, response) => {
    response.writeHead(405).end();
  });
  assert.equal(code, 0);
  assert.match(text, /^NOT AUDITED.*405/);
});

test("an audit that fails for another reason does not pass", async (t) => {
  const { code, text } = await audit(t, null, answer({}));
  assert.equal(code, 1);
  assert.match(text, /lockfile/);
});

/** What the registry says of advisories; of any package, that it has one more version. */
function answer(advisories: object): RequestListener {
  return ({ url = "" }, response) => {
    const name = url.slice(1);
    const versions = { "2.0.0": { name, version: "2.0.0", dist: {} } };
    const known = { name, versions, "dist-tags": { latest: "2.0.0" } };
    response.end(JSON.stringify(url.endsWith("/advisories/bulk") ? advisories : known));
  };
}

/** Audits a project whose lock file has these packages, for development alone; null: that has none. */
async function audit(
  t: TestContext,
  locked: Record<string, string> | null,
  registry: RequestListener,
): Promise<{ code: number; text: string }> {
  const root = await mkdtemp(join(tmpdir(), "partner-api-audit-"));
  t.after(() => rm(root, { recursive: true }));
  const server = createServer(registry).listen(0, "127.0.0.1");
  t.after(() => server.close().closeAllConnections());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;

  const project = { name: "audited", version: "1.0.0", devDependencies: locked ?? {} };
  await writeFile(join(root, "package.json"), JSON.stringify(project));
  if (locked) await writeFile(join(root, "package-lock.json"), lockFile(project));
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

/** As npm 7 and later write it. */
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
