import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { connect, type Database } from "../../src/postgres/database.ts";
import { homeFolder, removeEmbedded, startEmbedded } from "../../src/builtin/index.ts";
import { readPostmaster } from "../../src/builtin/keeper/processes.ts";
import type { Afterwards } from "./afterwards.ts";

const POLL_MS = 20;

export interface LedgerShard {
  name: string;
  url: string;
  db: Database;
}

/** A PostgreSQL that survives faults: a server that is restarted when it is found dead, or a cluster. */
export interface DatabaseServer {
  shards: LedgerShard[];
  /** The names of the shards that no fault reaches. Default: none. */
  spared?: string[];
  /** Makes it unusable for a while, and resolves when it is usable again. */
  harm: () => Promise<Outage>;
}

export interface Outage {
  from: number;
  until: number;
  fault?: string;
  /** The shards that were unusable. Default: all. */
  shards?: readonly string[];
}

/** One server with one shard. Its fault ends it like `pg_ctl stop -m immediate`. */
export async function openDatabaseServer(
  afterwards: Afterwards,
  folder: string,
): Promise<DatabaseServer> {
  const { url, end } = await startServer(afterwards, join(folder, "data"));
  return { shards: [openShard(afterwards, "00", url)], harm: () => end("SIGQUIT") };
}

/** A server in its own folder. `end` signals its main process and resolves when the next one is ready. */
export async function startServer(
  afterwards: Afterwards,
  dataDir: string,
  settings: Record<string, string> = {},
) {
  afterwards.after(() => removeEmbedded(dataDir));
  const embedded = await startEmbedded({ dataDir, settings, log: () => undefined });
  afterwards.after(() => embedded.stop());
  return { url: embedded.url, end };

  async function end(signal: "SIGQUIT" | "SIGKILL") {
    const from = Date.now();
    const data = join(homeFolder(dataDir), "data");
    const before = readPostmaster(data)?.pid;
    if (before === undefined) throw new Error("there is no PostgreSQL to kill");
    process.kill(before, signal);
    for (;;) {
      await sleep(POLL_MS);
      const now = readPostmaster(data);
      if (now !== null && now.pid !== before && now.state === "ready") {
        return { from, until: Date.now() };
      }
    }
  }
}

export function openShard(afterwards: Afterwards, name: string, url: string): LedgerShard {
  const db = connect(url, { max: 2, name: "ledger" });
  afterwards.after(() => db.end({ timeout: 1 }));
  return { name, url, db };
}
