import { Gauge, type Registry } from "prom-client";
import type { Database } from "../postgres/database.ts";
import { countExports } from "../postgres/history-exports.ts";
import { kept } from "./kept.ts";
import { within } from "./within.ts";

/** How long the database may take. */
const DATABASE_MS = 2_000;

/** Exposes how much expired history waits for EXPORT_COMMAND. */
export function watchExports(registers: Registry[], db: Database): void {
  const askCounts = kept(() =>
    within(DATABASE_MS, countExports(db.within(DATABASE_MS))).catch(() => null),
  );
  new Gauge({
    name: "partner_api_history_exports",
    help: "Detached partitions that wait for their export, and those whose last export failed; absent while the database is away",
    labelNames: ["state"],
    registers,
    async collect() {
      this.reset();
      const counts = await askCounts();
      if (counts === null) return;
      this.set({ state: "waiting" }, counts.waiting);
      this.set({ state: "failing" }, counts.failing);
    },
  });
}
