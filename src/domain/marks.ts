import { type ProcessState, processStateAt, type Seen } from "./process.ts";

export const MARK_KINDS = ["started", "stopped", "release", "disabled", "changed"] as const;
export type MarkKind = (typeof MARK_KINDS)[number];

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
