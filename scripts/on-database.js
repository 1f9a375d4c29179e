import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rename, rm } from "node:fs/promises";
import { constants, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { configurationNames } from "../dist/src/config/config.js";
import { connect } from "../dist/src/postgres/database.js";
import { homeFolder, removeEmbedded, startEmbedded } from "../dist/src/builtin/index.js";
import { ROOT } from "./ready.js";
import { digestWith } from "./rings.js";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"];
/** Nothing that a test writes must survive, and the files of a process all have their pools. */
const SETTINGS = {
  ...{ fsync: "off", full_page_writes: "off", synchronous_commit: "off" },
  max_connections: "400",
};

/** Clusters with the tests' template, each by what it was made from. To copy one takes a tenth of the time of a new one. */
const CLUSTERS = join(ROOT, "node_modules/.cache/test-clusters");
const MAKES_TEMPLATE = "test/support/database.ts";
const MAKES_CLUSTER = ["src/builtin"];

let endedBy = null;
let runner = null;

/**
 * Runs Node.js with these arguments and a PostgreSQL of its own. Returns the exit status. Without `needsDatabase`, starts no
 * PostgreSQL.
 */
export async function runOnDatabase(args, { needsDatabase = true } = {}) {
  for (const name of SIGNALS) process.on(name, endRunner);
  let database = null;
  const lent = await mkdtemp(join(tmpdir(), "partner-api-test-databases-"));
  try {
    if (needsDatabase) database = await openDatabase();
    return await run(args, {
      ...(database && { TEST_DATABASE_URL: database.url }),
      TEST_DATABASES: lent,
    });
  } finally {
    if (process.env.DATABASE_URL) await dropLent(lent);
    await rm(lent, { recursive: true, force: true });
    await database?.close();
    for (const name of SIGNALS) process.off(name, endRunner);
  }
}

async function run(args, settings) {
  if (endedBy === null) {
    runner = spawn(process.execPath, args, {
      cwd: ROOT,
      env: environment(settings),
      stdio: ["ignore", "inherit", "inherit"],
      detached: true, // A process group, so that children of the tests end too.
    });
    await once(runner, "close");
  }
  return endedBy === null ? (runner.exitCode ?? 1) : 128 + constants.signals[endedBy];
}

function endRunner(signal) {
  if (endedBy !== null) return; // Ctrl-C arrives twice: from the terminal and from npm.
  endedBy = signal;
  if (runner === null) return;
  signalGroup("SIGTERM");
  setTimeout(signalGroup, 10_000, "SIGKILL").unref();
}

function signalGroup(signal) {
  try {
    process.kill(-runner.pid, signal);
  } catch {
    // The group has ended.
  }
}

/** Returns the database of DATABASE_URL, or a temporary one that is removed afterwards. */
async function openDatabase() {
  if (process.env.DATABASE_URL) return { url: process.env.DATABASE_URL, close: async () => {} };

  const kept = join(
    CLUSTERS,
    digestWith(ROOT, MAKES_TEMPLATE, [...MAKES_CLUSTER, "src/postgres/migrations"]),
  );
  if (!existsSync(kept)) await keepCluster(kept);
  return startIn(kept);
}

/** Starts a server of its own. If it can, on a copy of the cluster. */
async function startIn(kept) {
  const dataDir = await mkdtemp(join(tmpdir(), "partner-api-test-"));
  const remove = async () => {
    await removeEmbedded(dataDir);
    await rm(dataDir, { recursive: true, force: true });
  };
  try {
    if (kept && existsSync(kept)) await copy(kept, homeFolder(dataDir));
    const options = { dataDir, settings: SETTINGS, log: console.error };
    const { url, stop } = await startEmbedded(options);
    return { url, dataDir, stop, remove, close: () => stop().finally(remove) };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Makes a cluster, and keeps a copy of it in place of older ones. In a read-only checkout, nothing is kept. */
async function keepCluster(kept) {
  const draft = `${kept}.${process.pid}`;
  try {
    await mkdir(CLUSTERS, { recursive: true });
  } catch {
    return;
  }
  const { makeTemplate } = await import("../dist/test/support/database.js");
  const { url, dataDir, stop, remove } = await startIn(null);
  try {
    const admin = connect(url, { max: 1, name: "test admin" });
    await makeTemplate(admin, url).finally(() => admin.end({ timeout: 1 }));
    await stop();
    for (const old of await readdir(CLUSTERS)) {
      await rm(join(CLUSTERS, old), { recursive: true, force: true });
    }
    const keeping = copy(homeFolder(dataDir), draft).then(() => rename(draft, kept));
    await keeping.catch(() => rm(draft, { recursive: true, force: true })); // Another run was faster, or nothing can be kept here.
  } finally {
    await stop();
    await remove();
  }
}

/** With the owners and rights of the files. */
async function copy(folder, to) {
  await mkdir(dirname(to), { recursive: true });
  await promisify(execFile)("cp", ["-a", folder, to]);
}

/** Drops the databases that the tests of this run have used, from a server that stays. */
async function dropLent(folder) {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const { server, name } = JSON.parse(await readFile(join(entry.parentPath, entry.name), "utf8"));
    const admin = connect(server, { max: 1, name: "test admin" });
    await admin`drop database if exists ${admin(name)} with (force)`;
    await admin`drop role if exists ${admin(name)}`;
    await admin.end({ timeout: 1 });
  }
}

/** Removes variables that would affect the tests: the service's settings and libpq's. */
function environment(settings) {
  const env = { ...process.env, ...settings };
  const isBuiltIn = !env.DATABASE_URL;
  for (const name of Object.keys(env)) if (isBuiltIn && name.startsWith("PG")) delete env[name];
  for (const name of configurationNames()) delete env[name];
  return env;
}
