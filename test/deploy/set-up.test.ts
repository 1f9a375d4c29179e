import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { loadConfig } from "../../src/config/config.ts";
import { guideCommand, guideText } from "../support/guide.ts";
import { requireProgram } from "../support/required.ts";
import { ROOT } from "../support/root.ts";
import { aTemporaryFolder } from "../support/temporary-folder.ts";

const execute = promisify(execFile);
const UNIT = join(ROOT, "deploy/systemd/partner-api.service");

/** `systemd-analyze security` rates a unit from 0 (closed) to 10. Its option takes tenths. */
const EXPOSURE_MAX = "20";

test("systemd accepts the unit and rates its exposure at most 2.0", async (t) => {
  if (!(await requireProgram(t, "systemd-analyze", ["--version"]))) return;
  const folder = await aTemporaryFolder(t);
  const unit = join(folder, "partner-api.service");
  const text = await readFile(UNIT, "utf8");
  await writeFile(unit, text.replace("/usr/bin/node", process.execPath)); // systemd accepts only a program that exists.

  const { stderr } = await execute("systemd-analyze", ["verify", unit]);
  const ours = stderr.split("\n").filter((line) => !/^\/(usr\/)?lib\/systemd\//.test(line)); // It loads this machine's units, too.
  assert.deepEqual(ours, [""]);
  const rate = ["security", "--offline=yes", "--no-pager"];
  await execute("systemd-analyze", [...rate, `--threshold=${EXPOSURE_MAX}`, unit]);
});

test("the unit permits what Node.js and PostgreSQL need", async () => {
  const settings = (await readFile(UNIT, "utf8")).split("\n");
  assert.ok(!settings.some((one) => one.startsWith("MemoryDenyWriteExecute")), "V8 compiles");
  assert.ok(!settings.some((one) => one.startsWith("ProcSubset")), "/proc/meminfo is read");
  assert.ok(settings.includes("SystemCallErrorNumber=EPERM"));
  assert.ok(settings.includes("KillMode=mixed"));
});

test("the image and the chart carry the package's version", async () => {
  const read = (path: string) => readFile(join(ROOT, path), "utf8");
  const { version } = JSON.parse(await read("package.json")) as { version: string };
  assert.match(await read("deploy/Dockerfile"), new RegExp(`^ARG VERSION=${version}$`, "m"));
  const chart = await read("deploy/helm/Chart.yaml");
  assert.deepEqual(chart.match(/(?<=^(app)?[vV]ersion: ).*$/gm), [version, version]);
});

test("the image has the files that the program reads and the guide's program for exports", async () => {
  const dockerfile = await readFile(join(ROOT, "deploy/Dockerfile"), "utf8");
  const copied = [...dockerfile.matchAll(/^COPY --from=build (.*) \S+$/gm)]
    .flatMap(([, sources = ""]) => sources.split(" "))
    .filter((source) => source.startsWith("/partner-api/"))
    .map((source) => source.slice("/partner-api/".length));
  const isCopied = (path: string) =>
    copied.some((source) => `${path}/`.startsWith(`${source}/`) || source.startsWith(path));
  const [, script = ""] = /EXPORT_COMMAND=\/opt\/partner-api\/(\S+)/.exec(await guideText()) ?? [];
  const read = await listReadFiles();
  assert.ok(read.includes("src/postgres/migrations/") && script.startsWith("deploy/"));
  assert.deepEqual(
    [...read, script].filter((path) => !isCopied(path)),
    [],
  );
  const ignored = (await readFile(join(ROOT, "deploy/Dockerfile.dockerignore"), "utf8")).split(
    "\n",
  );
  assert.ok(ignored.includes(`!${script}`), "the other files of deploy/ stay behind");
});

/** Returns the paths that the built program names, relative to its own files. */
async function listReadFiles(): Promise<string[]> {
  const built = join(ROOT, "dist/src");
  const scripts = (await readdir(built, { recursive: true })).filter((name) =>
    name.endsWith(".js"),
  );
  const named = scripts.map(async (name) => {
    const file = join(built, name);
    const paths = (await readFile(file, "utf8")).matchAll(
      /new URL\(\s*"(\.[^"]+)",\s*import\.meta\.url/g,
    );
    return [...paths].map(([, path = ""]) => {
      const { pathname } = new URL(path, pathToFileURL(file));
      return relative(ROOT, pathname) + (path.endsWith("/") ? "/" : "");
    });
  });
  return (await Promise.all(named)).flat();
}

test("a supervisor waits longer for a stop than DRAIN and SHUTDOWN_GRACE together", async () => {
  const { shutdownGraceMs } = loadConfig({});
  const unit = await readFile(UNIT, "utf8");
  const compose = await readFile(join(ROOT, "deploy/compose.yaml"), "utf8");
  const seconds = [
    /^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1],
    /^ {2}stop_grace_period: (\d+)s$/m.exec(compose)?.[1],
  ].map(Number);
  const drain = Number(/^ {4}DRAIN: (\d+)s$/m.exec(compose)?.[1]);
  for (const least of seconds) assert.ok(least > drain + shutdownGraceMs / 1000, String(least));
});

test("haproxy accepts the configuration in front of the nodes", async (t) => {
  if (!(await requireProgram(t, "haproxy", ["-v"]))) return;
  await execute("haproxy", ["-c", "-f", join(ROOT, "deploy/haproxy/haproxy.cfg")]);
});

test("the guide's checks of haproxy's configurations pass", async (t) => {
  if (!(await requireProgram(t, "haproxy", ["-v"]))) return;
  for (const file of ["cells", "postgres"]) {
    const command = await guideCommand(new RegExp(`^haproxy .*/${file}\\.cfg$`));
    await execute("sh", ["-c", command], { cwd: ROOT });
  }
});

test("the service accepts the secrets that new-secrets.sh prints", async (t) => {
  if (!(await requireProgram(t, "openssl", ["version"]))) return;
  const print = async () => (await execute(join(ROOT, "deploy/new-secrets.sh"))).stdout;
  const first = await print();
  assert.notEqual(first, await print());
  const env = Object.fromEntries(
    first
      .trim()
      .split("\n")
      .map((line) => line.split(/=(.*)/s).slice(0, 2) as [string, string]),
  );
  const { adminTokens, sealingKeys } = loadConfig({
    ADMIN_TOKEN: env["ADMIN_TOKEN"],
    SEALING_KEYS: env["SEALING_KEYS"],
  });
  assert.deepEqual([adminTokens?.length, sealingKeys !== null], [1, true]);
});
