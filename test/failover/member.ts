import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, openSync, readdirSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Account } from "./account.ts";
import type { Place } from "./network.ts";

/** The folder of Debian's newest PostgreSQL. */
export const BIN = join("/usr/lib/postgresql", newest("/usr/lib/postgresql"), "bin");

export interface MemberOptions {
  name: string;
  folder: string;
  account: Account;
  place: Place;
  /** Host and port. */
  etcd: string;
  sqlPort: number;
  restPort: number;
}

/** One node of the cluster: Patroni and the PostgreSQL that it runs. They die and freeze together, as a machine does. */
export class Member {
  readonly name: string;
  readonly place: Place;
  /** Host and port of its PostgreSQL. */
  readonly sql: string;
  readonly restUrl: string;
  readonly #options: MemberOptions;
  #patroni: ChildProcess | null = null;

  constructor(options: MemberOptions) {
    this.#options = options;
    this.name = options.name;
    this.place = options.place;
    this.sql = `${options.place.host}:${options.sqlPort}`;
    this.restUrl = `http://${options.place.host}:${options.restPort}`;
  }

  async start(): Promise<void> {
    const { folder, name, account, place } = this.#options;
    const file = join(folder, `${name}.json`);
    await writeFile(file, JSON.stringify(configurationOf(this.#options)));
    const log = openSync(join(folder, `${name}.log`), "a");
    const [program = "", ...args] = within(place, account, ["patroni", file]);
    const asItself = place.namespace === undefined ? account : {}; // Only root may enter a namespace.
    const stdio = ["ignore" as const, log, log];
    this.#patroni = spawn(program, args, { ...asItself, cwd: folder, stdio });
  }

  /** Kills everything with -9, also frozen processes. */
  async kill(): Promise<void> {
    const patroni = this.#patroni;
    if (patroni?.pid === undefined) return;
    const ended =
      patroni.exitCode === null && patroni.signalCode === null ? once(patroni, "exit") : null;
    for (const pid of await this.#processes()) signal(pid, "SIGKILL");
    await ended;
    this.#patroni = null;
  }

  /** Freezes all processes of the node. Its connections stay open and silent. */
  async freeze(): Promise<void> {
    for (const pid of await this.#processes()) signal(pid, "SIGSTOP");
  }

  async thaw(): Promise<void> {
    for (const pid of await this.#processes()) signal(pid, "SIGCONT");
  }

  async #processes(): Promise<number[]> {
    const roots = [this.#patroni?.pid, await this.#postmaster()].filter((pid) => pid !== undefined);
    const parents = await parentsOfAll();
    const all = new Set(roots);
    for (let before = 0; before < all.size;) {
      before = all.size;
      for (const [pid, parent] of parents) if (all.has(parent)) all.add(pid);
    }
    return [...all];
  }

  async #postmaster(): Promise<number | undefined> {
    const file = join(this.#options.folder, this.name, "postmaster.pid");
    const text = await readFile(file, "utf8").catch(() => "");
    const pid = Number(text.split("\n")[0]);
    const command = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
    return command.includes(join(this.#options.folder, this.name)) ? pid : undefined;
  }
}

/** The command that runs a program in the node's place. Both steps of it become the program, so its process is the child. */
function within({ namespace }: Place, { uid, gid }: Account, command: string[]): string[] {
  if (namespace === undefined) return command;
  const account = ["setpriv", `--reuid=${uid}`, `--regid=${gid}`, "--clear-groups"];
  return ["ip", "netns", "exec", namespace, ...account, ...command];
}

function newest(folder: string): string {
  const versions = existsSync(folder) ? readdirSync(folder) : [];
  return versions.sort((a, b) => Number(b) - Number(a))[0] ?? "none";
}

/** The process ids of this machine, each with its parent's. */
async function parentsOfAll(): Promise<Map<number, number>> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => {
      const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
      const parent = Number(/\) \S (\d+)/.exec(stat)?.[1] ?? 0);
      return [Number(pid), parent] as const;
    }),
  );
  return new Map(found);
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended.
  }
}

function configurationOf({ name, folder, place, etcd, sqlPort, restPort }: MemberOptions): object {
  const rest = `${place.host}:${restPort}`;
  const sql = `${place.host}:${sqlPort}`;
  const login = (username: string) => ({ username, password: "only-loopback" });
  return {
    scope: "partner",
    name,
    restapi: { listen: rest, connect_address: rest },
    etcd3: { hosts: [etcd] },
    bootstrap: {
      dcs: {
        ...{ ttl: 20, loop_wait: 2, retry_timeout: 4 },
        primary_start_timeout: 0,
        synchronous_mode: true,
        postgresql: {
          use_pg_rewind: true,
          parameters: { max_connections: 60, wal_log_hints: "on", shared_buffers: "32MB" },
        },
      },
      initdb: ["data-checksums", { encoding: "UTF8" }, { auth: "trust" }],
    },
    postgresql: {
      ...{ listen: sql, connect_address: sql },
      ...{ data_dir: join(folder, name), bin_dir: BIN, pgpass: join(folder, `${name}.pgpass`) },
      authentication: { superuser: login("postgres"), replication: login("replicator") },
      pg_hba: ["host all all samenet trust", "host replication all samenet trust"],
      parameters: { unix_socket_directories: "" },
    },
    watchdog: { mode: "off" },
  };
}
