import { Gauge, type Registry } from "prom-client";
import type { Database } from "../postgres/database.ts";
import { countExports } from "../postgres/history-exports.ts";
import { kept } from "./kept.ts";
import type { WatchedShard } from "./shard-metrics.ts";
import { within } from "./within.ts";

/** How long the database may take. */
const DATABASE_MS = 2_000;

/** Exposes how much expired history waits for EXPORT_COMMAND. */
export function watchExports(
  registers: Registry[],
  shards: readonly Pick<WatchedShard, "labels" | "db">[],
): void {
  const count = (db: Database) => within(DATABASE_MS, countExports(db.within(DATABASE_MS)));
  const askCounts = kept(() =>
    Promise.all(
      shards.map(async ({ labels, db }) => ({ labels, counts: await count(db).catch(() => null) })),
    ),
  );
  new Gauge({
    name: "partner_api_history_exports",
    help: "Detached partitions that wait for their export, and those whose last export failed; absent while the database is away",
    labelNames: ["state", "shard"],
    registers,
    async collect() {
      this.reset();
      for (const { labels, counts } of await askCounts()) {
        if (counts === null) continue;
        this.set({ state: "waiting", ...labels }, counts.waiting);
        this.set({ state: "failing", ...labels }, counts.failing);
      }
    },
  });
}
