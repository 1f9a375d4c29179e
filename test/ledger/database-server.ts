import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { connect, type Database } from "../../src/postgres/database.ts";
import { homeFolder, removeEmbedded, startEmbedded } from "../../src/builtin/index.ts";
import { readPostmaster } from "../../src/builtin/keeper/processes.ts";
import type { Afterwards } from "./afterwards.ts";

const POLL_MS = 20;

/** A PostgreSQL that survives faults: a server that is restarted when it is found dead, or a cluster. */
export interface DatabaseServer {
  url: string;
  db: Database;
  /** Makes it unusable for a while, and resolves when it is usable again. */
  harm: () => Promise<Outage>;
}

export interface Outage {
  from: number;
  until: number;
  fault?: string;
}

/** A server in its own folder. Its fault ends it like `pg_ctl stop -m immediate`, and is over when the next one is ready. */
export async function openDatabaseServer(
  afterwards: Afterwards,
  folder: string,
  settings: Record<string, string> = {},
): Promise<DatabaseServer> {
  const dataDir = join(folder, "data");
  afterwards.after(() => removeEmbedded(dataDir));
  const embedded = await startEmbedded({ dataDir, settings, log: () => undefined });
  afterwards.after(() => embedded.stop());
  return { url: embedded.url, db: openLedgerPool(afterwards, embedded.url), harm };

  async function harm(): Promise<Outage> {
    const from = Date.now();
    const data = join(homeFolder(dataDir), "data");
    const before = readPostmaster(data)?.pid;
    if (before === undefined) throw new Error("there is no PostgreSQL to kill");
    process.kill(before, "SIGQUIT");
    for (;;) {
      await sleep(POLL_MS);
      const now = readPostmaster(data);
      if (now !== null && now.pid !== before && now.state === "ready") {
        return { from, until: Date.now() };
      }
    }
  }
}

export function openLedgerPool(afterwards: Afterwards, url: string): Database {
  const db = connect(url, { max: 2, name: "ledger" });
  afterwards.after(() => db.end({ timeout: 1 }));
  return db;
}
