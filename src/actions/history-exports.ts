import { after } from "../domain/clock.ts";
import { isTimedOut } from "../postgres/database.ts";
import {
  claimExport,
  dropExported,
  type HistoryExport,
  recordExportFailed,
  releaseExport,
  renewExport,
} from "../postgres/history-exports.ts";
import type { Dependencies } from "./dependencies.ts";

const SCHEMA = /^(?:[a-z_][a-z0-9_]*|"(?:[^"/\p{C}]|"")+")$/u;
const PARTITION =
  /^(?:events|attempts|finished_deliveries|activity_minutes|activity_hours)_\d{8}_\d{6}(?:_\d{3})?_expired$/;

type Deps = Pick<Dependencies, "db" | "clock">;

/** How long a lease lasts after it was taken or renewed. */
export const EXPORT_LEASE_MS = 120_000;
/** When a failed export is tried again. */
export const EXPORT_RETRY_MS = 600_000;

/** How a run of the export's program ended. `abandoned`: it was stopped, which is no failure. */
export type Exported = { kind: "done" } | { kind: "abandoned" } | { kind: "failed"; why: string };

/** `kept`: exported, but the lease is lost or the retention has become longer. */
export type ExportResult =
  { kind: "dropped" } | { kind: "kept" } | Exclude<Exported, { kind: "done" }>;

/** Takes the next detached partition. One process exports at a time. Null if there is none. */
export async function beginExport({ db, clock }: Deps): Promise<HistoryExport | null> {
  const now = clock();
  return claimExport(db, { now, leasedUntil: after(now, EXPORT_LEASE_MS) });
}

/**
 * Returns the table's name with its schema. Null if no partition of ours has such a name: programs build paths, options and
 * statements from it, and the owner of the server chooses it.
 */
export function exportedTable({
  schema,
  partition,
}: Pick<HistoryExport, "schema" | "partition">): string | null {
  return SCHEMA.test(schema) && PARTITION.test(partition) ? `${schema}.${partition}` : null;
}

/** Returns false if another process has taken the partition over. */
export async function keepExport({ db, clock }: Deps, one: HistoryExport): Promise<boolean> {
  return renewExport(db, one, after(clock(), EXPORT_LEASE_MS));
}

/** Drops the partition if its export is done. Otherwise it waits for the next try. */
export async function endExport(
  deps: Deps,
  one: HistoryExport,
  exported: Exported,
): Promise<ExportResult> {
  const { db, clock } = deps;
  const now = clock();
  switch (exported.kind) {
    case "done":
      try {
        return { kind: (await dropExported(db, one, now)) ? "dropped" : "kept" };
      } catch (error) {
        if (!isTimedOut(error)) throw error;
        return endExport(deps, one, {
          kind: "failed",
          why: "it is exported, but in use: not dropped",
        });
      }
    case "abandoned":
      await releaseExport(db, one, now);
      return exported;
    case "failed": {
      const nextAt = after(now, EXPORT_RETRY_MS);
      await recordExportFailed(db, one, { failure: exported.why, now, nextAt });
      return exported;
    }
  }
}
