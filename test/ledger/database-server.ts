import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { connect, type Database } from "../../src/postgres/database.ts";
import { homeFolder, removeEmbedded, startEmbedded } from "../../src/embedded-postgres/index.ts";
import { readPostmaster } from "../../src/embedded-postgres/keeper/postmaster.ts";
import type { Afterwards } from "./afterwards.ts";

const POLL_MS = 20;

/** A PostgreSQL that survives harm: a server that is restarted when it is found dead, or a cluster. */
export interface DatabaseServer {
  url: string;
  db: Database;
  /** Makes it unusable for a while, and resolves when it is usable again. */
  harm: () => Promise<{ from: number; until: number; fault?: string }>;
}

export async function openDatabaseServer(
  afterwards: Afterwards,
  folder: string,
): Promise<DatabaseServer> {
  const dataDir = join(folder, "data");
  afterwards.after(() => removeEmbedded(dataDir));
  const embedded = await startEmbedded({ dataDir, log: () => undefined });
  afterwards.after(() => embedded.stop());
  const db = connect(embedded.url, { max: 2, name: "ledger" });
  afterwards.after(() => db.end({ timeout: 1 }));
  return { url: embedded.url, db, harm };

  /** Ends it like `pg_ctl stop -m immediate`. */
  async function harm() {
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
