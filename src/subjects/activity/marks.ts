import { after } from "../../lib/clock.ts";
import { type Fault, requireNoFaults } from "../../lib/errors.ts";
import { readTime } from "../deliveries/query.ts";
import type { Dependencies } from "../dependencies.ts";
import { listChanges } from "../operators/sql.ts";
import { type Mark, MARKS_KEPT_MS, marksOfProcesses } from "../processes/rules.ts";
import { listProcesses } from "../processes/sql.ts";
import { listDisabled } from "../subscriptions/sql.ts";

export type MarkView = Omit<Mark, "at"> & { at: string };

/** The longest list, and the most that are read of each kind. */
export const MARKS_MAX = 200;

/** Returns the latest changes of the service since a time, latest first. Default: as far back as they are kept. */
export async function viewMarks(
  { db, clock }: Pick<Dependencies, "db" | "clock">,
  query: { since?: string | undefined },
): Promise<{ items: MarkView[] }> {
  const faults: Fault[] = [];
  const since = readTime("/since", query.since, faults) ?? after(clock(), -MARKS_KEPT_MS);
  requireNoFaults(faults);
  const kept = after(clock(), -MARKS_KEPT_MS);
  const page = { after: null, limit: MARKS_MAX };
  const [processes, disabled, changes] = await Promise.all([
    listProcesses(db, kept), // All of them, because a release differs from the process before it.
    listDisabled(db, since, MARKS_MAX),
    listChanges(db, { since, withReads: false }, page),
  ]);
  const marks: Mark[] = [
    ...marksOfProcesses(processes, clock()),
    ...disabled.map(({ host, at }) => ({
      ...{ at, kind: "disabled" as const },
      label: `${host ?? "a receiver"} was auto-disabled`,
    })),
    ...changes.map(({ at, operator, action }) => ({
      ...{ at, kind: "changed" as const },
      label: `${operator}: ${action.replaceAll("_", " ")}`,
    })),
  ];
  const items = marks
    .filter(({ at }) => at >= since)
    .sort((a, b) => b.at.getTime() - a.at.getTime())
    .slice(0, MARKS_MAX)
    .map((mark) => ({ ...mark, at: mark.at.toISOString() }));
  return { items };
}
