import { randomUUID } from "node:crypto";
import { appendFile, open, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Binaries } from "../binaries.ts";
import { DATABASE } from "../home.ts";
import { dataOf, isAbsent, readRegular } from "./files.ts";
import { runProgram } from "./processes.ts";
import { SETTINGS_FILE } from "./settings.ts";

const DRAFT = "draft.";

const CLUSTER = [
  ...["--encoding=UTF8", "--data-checksums", "--set=huge_pages=off"],
  ...["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"],
  ...["--auth-local=trust", "--auth-host=reject", "--no-instructions", "--no-sync"],
];

// This mode of PostgreSQL needs neither a server nor a client program.
const SINGLE_USER = ["-F", "-c", "exit_on_error=on", "-c", "log_checkpoints=off", "postgres"];

// One call for everything. A call for each file takes a second or two.
const SYNC = ["--sync-only", ...(process.platform === "linux" ? ["--sync-method=syncfs"] : [])];

interface ClusterOptions {
  durable: boolean;
  log: (message: string) => void;
}

/** Creates a cluster in `home`, or checks that these binaries can serve the existing one. Call it under the lock. */
export async function ensureCluster(
  home: string,
  binaries: Binaries,
  options: ClusterOptions,
): Promise<void> {
  const data = dataOf(home);
  const major = await majorOf(data);
  if (major === null) return makeCluster(home, binaries, options);
  if (major !== binaries.major) {
    throw new Error(
      `${data} was created by PostgreSQL ${major}, but the built-in version is ${binaries.major}: ` +
        `run it with PostgreSQL ${major} and set DATABASE_URL, or move it away`,
    );
  }
}

// The cluster is created beside and then renamed. So it is complete, on disk and with its database, or absent.
async function makeCluster(
  home: string,
  binaries: Binaries,
  { durable, log }: ClusterOptions,
): Promise<void> {
  const since = performance.now();
  log(`creating a database in ${home}`);
  for (const name of await readdir(home)) {
    if (name.startsWith(DRAFT)) await discard(join(home, name));
  }

  const draft = join(home, DRAFT + randomUUID());
  const initdb = join(binaries.folder, "bin", "initdb");
  const postgres = join(binaries.folder, "bin", "postgres");
  try {
    await runProgram(initdb, ["-D", draft, `--username=${DATABASE}`, ...CLUSTER]);
    const include = `include_if_exists = '${SETTINGS_FILE}'\n`;
    await appendFile(join(draft, "postgresql.conf"), include);
    const makeDatabase = `create database ${DATABASE}\n`;
    await runProgram(postgres, ["--single", "-D", draft, ...SINGLE_USER], makeDatabase);
    if (durable) await runProgram(initdb, ["-D", draft, ...SYNC]);
    await rename(draft, dataOf(home));
  } catch (error) {
    await discard(draft);
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`cannot create a database in ${home}: ${why}`, { cause: error });
  }
  if (durable) await syncFolder(home);
  log(`created a database in ${home} in ${((performance.now() - since) / 1000).toFixed(1)} s`);
}

/** The major version that wrote a data folder. Null if there is none. */
async function majorOf(data: string): Promise<string | null> {
  const names = await readdir(data).catch((error: unknown): string[] => {
    if (isAbsent(error)) return [];
    throw error;
  });
  if (names.length === 0) return null;
  const version = readRegular(join(data, "PG_VERSION"));
  if (version !== null) return version.trim();
  throw new Error(`${data} is not empty and is not a data folder of PostgreSQL: move it away`);
}

// An initdb whose parent was killed may still write. The rest is removed later.
function discard(draft: string): Promise<void> {
  return rm(draft, { recursive: true, force: true }).catch(() => undefined);
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
