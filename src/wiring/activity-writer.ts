import type { ProcessId } from "../domain/ids.ts";
import type { ActivityEntry, ActivityLog } from "../actions/activity-log.ts";
import { ROWS_MAX, upsertMinutes } from "../postgres/activity.ts";
import type { Database } from "../postgres/database.ts";
import { repeat } from "./repeat.ts";

const WRITE_MS = 5_000;
/** How long one statement may take. */
const PATIENCE_MS = 10_000;

/**
 * Writes the counts of the log every 5 s. A failed write is repeated with the next one. If the process crashes, the counts
 * since the last write are lost.
 */
export function startActivityWriter(
  db: Database,
  log: ActivityLog,
  { processId, onError }: { processId: ProcessId; onError: (error: unknown) => void },
): { stop(): Promise<void> } {
  const write = () => writeActivity(db, log, processId);
  const end = repeat(WRITE_MS, write, onError);
  return {
    stop: async () => {
      await end();
      await write().catch(onError);
    },
  };
}

/** Writes all changed rows. Rows hold sums, so a row whose write is uncertain can be written again. */
export async function writeActivity(
  db: Database,
  log: ActivityLog,
  processId: ProcessId,
): Promise<void> {
  const entries = log.take();
  for (let written = 0; written < entries.length; written += ROWS_MAX) {
    try {
      const rows = entries.slice(written, written + ROWS_MAX);
      await upsertMinutes(db.within(PATIENCE_MS), rows, processId);
    } catch (error) {
      log.giveBack(entries.slice(written) satisfies ActivityEntry[]);
      throw error;
    }
  }
}
