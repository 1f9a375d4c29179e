import { execFile } from "node:child_process";
import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { TestContext } from "node:test";
import { promisify } from "node:util";
import { ROOT } from "./root.ts";

const run = promisify(execFile);
const ours = async <Module>(name: string) =>
  (await import(join(ROOT, "scripts", name))) as Promise<Module>;

interface PythonArchives {
  writePythonArchives: (root: string, folder: string) => Promise<void>;
}

interface GoModule {
  writeGoModule: (root: string, folder: string, path: string) => Promise<string>;
  goModule: (root: string) => string;
}

/** Publishes the npm package of the verifier in a registry on loopback. Returns the settings of npm for it. */
export async function anNpmRegistry(t: TestContext, folder: string) {
  const { findNpm } = await ours<{ findNpm: () => string }>("packages.js");
  const source = join(ROOT, "packages/webhook");
  const options = ["--ignore-scripts", "--json", "--pack-destination", folder];
  const { stdout } = await run(process.execPath, [findNpm(), "pack", source, ...options]);
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
  const tarball = await readFile(join(folder, filename));
  const manifest = JSON.parse(await readFile(join(source, "package.json"), "utf8")) as {
    name: string;
    version: string;
  };
  const { name, version } = manifest;

  const server = createServer(({ url = "" }, response) => {
    if (url === "/tarball") return response.end(tarball);
    if (decodeURIComponent(url) !== `/${name}`) return response.writeHead(404).end();
    const versions = { [version]: { ...manifest, dist: { tarball: `${registry}/tarball` } } };
    return response.end(JSON.stringify({ name, "dist-tags": { latest: version }, versions }));
  }).listen(0, "127.0.0.1");
  t.after(() => server.close());
  await once(server, "listening");
  const registry = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    npm_config_registry: registry,
    npm_config_audit: "false",
    npm_config_update_notifier: "false",
  };
}

/** Builds the Python package. Returns the settings of pip that install it into `to`. */
export async function aFolderOfWheels(folder: string, to: string) {
  const { writePythonArchives } = await ours<PythonArchives>("python-archives.js");
  await writePythonArchives(ROOT, folder);
  return {
    PIP_NO_INDEX: "1",
    PIP_FIND_LINKS: folder,
    PIP_TARGET: to,
    PIP_DISABLE_PIP_VERSION_CHECK: "1",
  };
}

/** Publishes the Go module in a module proxy of files. Returns the settings of Go for it. */
export async function aGoProxy(folder: string, module?: string) {
  const { goModule, writeGoModule } = await ours<GoModule>("go-module.js");
  const path = module ?? goModule(ROOT);
  const archive = await writeGoModule(ROOT, folder, path);
  const [, v = ""] = /-(v[^-]+)\.zip$/.exec(archive) ?? [];
  const place = join(folder, path, "@v");
  await mkdir(place, { recursive: true });
  await writeFile(join(place, "list"), `${v}\n`);
  await writeFile(join(place, `${v}.info`), JSON.stringify({ Version: v }));
  await copyFile(archive, join(place, `${v}.zip`));
  const written = await readFile(join(ROOT, "packages/go/go.mod"), "utf8");
  await writeFile(join(place, `${v}.mod`), written.replace(/^module .*$/m, `module ${path}`));
  return { GOPROXY: pathToFileURL(folder).href, GOSUMDB: "off", ...(await goSettings()) };
}

/** The settings of Go in a folder of its own, with the cache of compiled packages that this machine has. */
export async function goSettings() {
  const { stdout } = await run("go", ["env", "GOCACHE"]);
  return { GOCACHE: stdout.trim(), GOTOOLCHAIN: "local", GOFLAGS: "-modcacherw" };
}
