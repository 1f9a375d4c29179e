import { Gauge, type Registry } from "prom-client";
import { countExports } from "../postgres/history-exports.ts";
import { keptByShard, type WatchedShard } from "./shard-metrics.ts";

/** Exposes how much expired history waits for EXPORT_COMMAND. */
export function watchExports(
  registers: Registry[],
  shards: readonly WatchedShard[],
  databaseMs: number,
): void {
  const askCounts = keptByShard(shards, databaseMs, (db) => countExports(db));
  new Gauge({
    name: "partner_api_history_exports",
    help: "Detached partitions that wait for their export, and those whose last export failed; absent while the database is unavailable",
    labelNames: ["state", "shard"],
    registers,
    async collect() {
      this.reset();
      for (const { shard, found: counts } of await askCounts()) {
        if (!counts) continue;
        this.set({ state: "waiting", ...shard.labels }, counts.waiting);
        this.set({ state: "failing", ...shard.labels }, counts.failing);
      }
    },
  });
}
