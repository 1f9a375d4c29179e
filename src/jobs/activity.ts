import { after } from "../lib/clock.ts";
import { type ProcessId, randomId } from "../lib/ids.ts";
import { repeat } from "../lib/parts.ts";
import type { Database } from "../postgres/database.ts";
import type { ActivityEntry, ActivityLog } from "../subjects/activity/log.ts";
import { MINUTE_MS, MINUTES_KEPT_MS, periodAt, SERVICE_SCOPE } from "../subjects/activity/rules.ts";
import {
  hasMinutesBefore,
  rollUpMinutes,
  ROWS_MAX,
  upsertMinutes,
} from "../subjects/activity/sql.ts";
import type { Dependencies } from "../subjects/dependencies.ts";

/** Sums old minutes up into hours, in short statements, until all are done or `signal` aborts. */
export async function rollUpActivity(
  { db, clock }: Pick<Dependencies, "db" | "clock">,
  signal?: AbortSignal,
): Promise<void> {
  const horizon = periodAt(after(clock(), -MINUTES_KEPT_MS), 60 * MINUTE_MS);
  if (!(await hasMinutesBefore(db, horizon))) return;
  for (let from: string | null = SERVICE_SCOPE; from !== null && !signal?.aborted;) {
    from = await rollUpMinutes(db, { horizon, from, partId: randomId() });
  }
}

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
