import type { ActivityEntry, ActivityLog } from "../actions/activity-log.ts";
import { ROWS_MAX, upsertMinutes } from "../postgres/activity.ts";
import type { Database } from "../postgres/database.ts";
import { repeat } from "./repeat.ts";

const WRITE_MS = 5_000;
/** How long one statement may take. */
const PATIENCE_MS = 10_000;

/**
 * Writes down what the log has counted, every 5 s. What cannot be written is written the next time; a crash of the process
 * loses what it has counted since the last one.
 */
export function startActivityWriter(
  db: Database,
  log: ActivityLog,
  { processId, onError }: { processId: string; onError: (error: unknown) => void },
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

/** Writes all that has changed. Rows hold sums, so one whose write may or may not have happened is written again. */
export async function writeActivity(
  db: Database,
  log: ActivityLog,
  processId: string,
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
