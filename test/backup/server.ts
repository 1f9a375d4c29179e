import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { connect, type Database } from "../../src/postgres/database.ts";
import { type Account, folderFor, serverAccount } from "../failover/account.ts";
import { BIN } from "../failover/member.ts";
import { freePort } from "../support/free-port.ts";
import { ROOT } from "../support/root.ts";
import { aTemporaryFolder } from "../support/temporary-folder.ts";

const execute = promisify(execFile);

/** The characters of a server's log that an error shows. */
const LOG_MAX = 4_000;

export interface Backups {
  account: Account;
  /** The folder of the rig. Every user may enter it. */
  folder: string;
  /** pgBackRest's configuration. */
  config: string;
  /** Runs a command as the server's account, with that configuration. */
  run: (command: string, env?: Record<string, string>) => Promise<void>;
  /**
   * Starts the server on a data folder. A restored server must not archive into the repository of the first.
   */
  start: (data: string, options?: { archives: boolean }) => Promise<Server>;
  /** The data folder in the backup. */
  data: string;
}

export interface Server {
  url: (role: string, database?: string) => string;
  admin: Database;
  /** Resolves when all committed work is archived. */
  archive: () => Promise<void>;
  stop: () => Promise<void>;
}

/**
 * A PostgreSQL 15 whose WAL pgBackRest archives into a repository beside it. For root it runs as `postgres`.
 */
export async function withBackups(t: TestContext): Promise<Backups> {
  const folder = await aTemporaryFolder(t);
  await chmod(folder, 0o755);
  const account = serverAccount();
  const home = await folderFor(account, folder, "home");
  const data = join(home, "data");
  const config = join(folder, "pgbackrest.conf");
  const port = await freePort();
  const run = async (command: string, env: Record<string, string> = {}) => {
    const more = { PATH: process.env["PATH"], PGBACKREST_CONFIG: config, ...env };
    await execute("sh", ["-euc", command], { ...account, cwd: home, env: more });
  };

  await writeFile(config, configurationOf(home, port));
  await run(`${BIN}/initdb -D '${data}' -U postgres -A trust --data-checksums -N`);
  return { account, folder, config, data, run, start };

  async function start(dataFolder: string, { archives } = { archives: true }): Promise<Server> {
    const settings = {
      ...{ port, listen_addresses: "127.0.0.1", unix_socket_directories: home },
      ...{ archive_mode: archives ? "on" : "off", wal_level: "replica", shared_buffers: "32MB" },
      archive_command: await archiveCommand(),
    };
    const args = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    const child = spawn(`${BIN}/postgres`, ["-D", dataFolder, ...args], {
      ...account,
      cwd: home,
      env: {
        ...{ PATH: process.env["PATH"], PGBACKREST_CONFIG: config },
        PGBACKREST_PG1_PATH: dataFolder, // The configuration names the data folder.
      },
      stdio: ["ignore", "ignore", "pipe"],
    });
    const ended = once(child, "exit");
    let log = "";
    child.stderr.on("data", (text: Buffer) => (log = (log + text.toString()).slice(-LOG_MAX)));
    const url = (role: string, database = "partner") =>
      `postgres://${role}@127.0.0.1:${port}/${database}`;
    const admin = connect(url("postgres", "postgres"), { max: 2, name: "test" });
    const stop = async () => {
      await admin.end({ timeout: 1 });
      child.kill("SIGQUIT");
      await ended;
    };
    t.after(() => child.kill("SIGQUIT"));
    while (!(await isPrimary(admin))) {
      if (child.exitCode !== null) throw new Error(`postgres ended with ${child.exitCode}: ${log}`);
      await delay(50);
    }
    return { url, admin, archive: () => archiveAll(admin), stop };
  }
}

async function archiveAll(admin: Database): Promise<void> {
  const [wal] = await admin<{ file: string }[]>`select pg_walfile_name(pg_switch_wal()) as file`;
  for (;;) {
    const rows = await admin<{ is: boolean }[]>`
      select coalesce(last_archived_wal >= ${wal?.file ?? ""}, false) as is from pg_stat_archiver`;
    if (rows[0]?.is === true) return;
    await delay(50);
  }
}

/** The settings that docs/operations.md recommends. */
async function archiveCommand(): Promise<string> {
  const guide = await readFile(join(ROOT, "docs/operations.md"), "utf8");
  return /^ {4}archive_command = '(.*)'$/m.exec(guide)?.[1] ?? "";
}

async function isPrimary(db: Database): Promise<boolean> {
  const rows = await db<{ is: boolean }[]>`select not pg_is_in_recovery() as is`.catch(() => []);
  return rows[0]?.is ?? false;
}

function configurationOf(home: string, port: number): string {
  return `[global]
repo1-path=${home}/repository
repo1-retention-full=2
start-fast=y
lock-path=${home}/lock
log-path=${home}/log
log-level-console=warn
log-level-file=off

[partner]
pg1-path=${home}/data
pg1-port=${port}
pg1-socket-path=${home}
pg1-user=postgres
`;
}
