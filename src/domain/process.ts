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
  started_at: Date;
  last_seen_at: Date;
  is_stopping: boolean;
  /** Null unless the process reported its end. */
  ended_at: Date | null;
}

export function processStateAt(now: Date, seen: Seen): ProcessState {
  const isSilent = now.getTime() - seen.last_seen_at.getTime() >= SILENT_MS;
  if (seen.ended_at !== null || isSilent) return "gone";
  return seen.is_stopping ? "stopping" : "running";
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
    .filter((one) => one.ended_at === null && processStateAt(now, one) === "gone")
    .sort((a, b) => a.last_seen_at.getTime() - b.last_seen_at.getTime());
  const starters = processes
    .filter((one) => !lost.includes(one))
    .sort((a, b) => a.started_at.getTime() - b.started_at.getTime());
  return lost.filter((one) => {
    const place = starters.findIndex(
      ({ role, started_at }) => role === one.role && started_at > one.last_seen_at,
    );
    if (place !== -1) starters.splice(place, 1);
    return place === -1;
  });
}
