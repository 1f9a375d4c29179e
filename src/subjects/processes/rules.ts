export const PROCESS_ROLES = ["all", "api", "dispatcher"] as const;
export type ProcessRole = (typeof PROCESS_ROLES)[number];

export const PROCESS_STATES = ["running", "stopping", "gone"] as const;
export type ProcessState = (typeof PROCESS_STATES)[number];

/** A process that is silent this long is gone. */
export const SILENT_MS = 15_000;
/** A gone process leaves the list after this time. Its row is kept longer, for the marks of charts. */
export const GONE_KEPT_MS = 86_400_000;
/** How often a process reports. */
export const REPORT_MS = 5_000;

/** Limits of a process's report. */
export const ORGANIZATIONS_REPORTED = 10;
export const SLOWED_REPORTED = 100;

/** The last report of a process. */
export interface Seen {
  role: ProcessRole;
  startedAt: Date;
  lastSeenAt: Date;
  isStopping: boolean;
  /** Null unless the process reported its end. */
  endedAt: Date | null;
}

export function processStateAt(now: Date, seen: Seen): ProcessState {
  const isSilent = now.getTime() - seen.lastSeenAt.getTime() >= SILENT_MS;
  if (seen.endedAt !== null || isSilent) return "gone";
  return seen.isStopping ? "stopping" : "running";
}

/**
 * Returns the processes that went silent without an announcement and were not replaced. Each later start in the same role
 * replaces one.
 */
export function missedAt<Process extends Seen>(
  now: Date,
  processes: readonly Process[],
): Process[] {
  const lost = processes
    .filter((one) => one.endedAt === null && processStateAt(now, one) === "gone")
    .sort((a, b) => a.lastSeenAt.getTime() - b.lastSeenAt.getTime());
  const starters = processes
    .filter((one) => !lost.includes(one))
    .sort((a, b) => a.startedAt.getTime() - b.startedAt.getTime());
  return lost.filter((one) => {
    const index = starters.findIndex(
      ({ role, startedAt }) => role === one.role && startedAt > one.lastSeenAt,
    );
    if (index !== -1) starters.splice(index, 1);
    return index === -1;
  });
}

export const MARK_KINDS = ["started", "stopped", "release", "disabled", "changed"] as const;
type MarkKind = (typeof MARK_KINDS)[number];

/** A change of the service or by an operator, which a chart marks at its time. */
export interface Mark {
  at: Date;
  kind: MarkKind;
  label: string;
}

/** How far back marks go: the longest span of a chart, and a day. */
export const MARKS_KEPT_MS = 8 * 86_400_000;

interface Started extends Seen {
  version: string;
  host: string;
  pid: number;
}

/** Returns the starts and stops. A start is a release if the process before it had another version. */
export function marksOfProcesses(processes: readonly Started[], now: Date): Mark[] {
  const byStart = processes.toSorted((a, b) => a.startedAt.getTime() - b.startedAt.getTime());
  return byStart.flatMap((one, index) => {
    const { host, pid, version, startedAt: at } = one;
    const isRelease = (byStart[index - 1]?.version ?? version) !== version;
    const start: Mark = isRelease
      ? { at, kind: "release", label: `release ${version} started on ${host}` }
      : { at, kind: "started", label: `${host} ${pid} started` };
    return processStateAt(now, one) === ("gone" satisfies ProcessState)
      ? [start, { at: one.lastSeenAt, kind: "stopped", label: `${host} ${pid} stopped` }]
      : [start];
  });
}
