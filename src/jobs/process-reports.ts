import { hostname } from "node:os";
import { resolve } from "node:path";
import { after, type Clock } from "../lib/clock.ts";
import type { ProcessId } from "../lib/ids.ts";
import { repeat } from "../lib/parts.ts";
import { VERSION } from "../lib/product.ts";
import type { Database } from "../postgres/database.ts";
import { countSlots, type Slotted } from "../queue/reported-slots.ts";
import { type Check, type Problem, ProblemLog, problemsOf } from "../subjects/activity/rules.ts";
import type { Dependencies } from "../subjects/dependencies.ts";
import {
  MARKS_KEPT_MS,
  type ProcessRole,
  processStateAt,
  REPORT_MS,
} from "../subjects/processes/rules.ts";
import {
  deleteProcesses,
  type ProcessIdentity,
  recordProcess,
  recordProcessEnded,
} from "../subjects/processes/sql.ts";
import { listKnownProcesses } from "../subjects/processes/work.ts";

/** How long one statement may take. */
const PATIENCE_MS = 5_000;
const HOST_LENGTH_MAX = 255;

export function identify(id: ProcessId, role: ProcessRole, clock: Clock): ProcessIdentity {
  return {
    id,
    role,
    version: VERSION,
    host: hostname().slice(0, HOST_LENGTH_MAX),
    pid: process.pid,
    startedAt: clock(),
  };
}

/** Returns this process's problems, each with the time of its start. */
export function datedProblems(
  ready: () => Promise<Check[]>,
  clock: Clock,
): () => Promise<Problem[]> {
  const log = new ProblemLog();
  return async () => {
    const checks = await ready();
    return log.date(problemsOf(checks), clock());
  };
}

export interface Reporting {
  /** Reports from now on that the process stops. */
  noteStopping(): void;
  stop(): Promise<void>;
}

/** Reports this process every 5 s, and records its end. */
export function startReporting(
  { db, clock }: { db: Database; clock: Clock },
  identity: ProcessIdentity,
  {
    dispatcher,
    lastRecorded,
    ownProblems,
    onError,
  }: {
    dispatcher: Slotted | null;
    /** When the last outcome was recorded. */
    lastRecorded: () => Date | null;
    ownProblems: () => Promise<Problem[]>;
    onError: (error: unknown) => void;
  },
): Reporting {
  let isStopping = false;

  const report = async () => {
    const problems = await ownProblems();
    const now = clock();
    await recordProcess(
      db.within(PATIENCE_MS),
      identity,
      {
        isStopping,
        lastRecordedAt: lastRecorded(),
        problems,
        ...countSlots(dispatcher),
      },
      now,
    );
    await deleteProcesses(db.within(PATIENCE_MS), after(now, -MARKS_KEPT_MS));
  };
  let extra = report().catch(onError);
  const end = repeat(REPORT_MS, report, onError);
  return {
    noteStopping: () => {
      isStopping = true;
      extra = extra.then(report).catch(onError);
    },
    stop: async () => {
      await extra;
      await end();
      await recordProcessEnded(db.within(PATIENCE_MS), identity.id, clock()).catch(onError);
    },
  };
}

/** Returns a warning if no service runs on the built-in database of a folder, because a command may be meant for another one. */
export async function warnOfUnserved(
  deps: Pick<Dependencies, "db" | "clock">,
  folder: string,
): Promise<string | null> {
  const processes = await listKnownProcesses(deps);
  if (processes.some((one) => processStateAt(deps.clock(), one) !== "gone")) return null;
  return (
    `no service runs on the built-in database of ${resolve(folder)}.\n` +
    "If you meant another database, set DATABASE_URL or DATA_DIR. For a running service, set PARTNER_API_URL"
  );
}
