import { after } from "../domain/clock.ts";
import { type Fault, requireNoFaults } from "../domain/errors.ts";
import { type Mark, MARKS_KEPT_MS, marksOfProcesses } from "../domain/marks.ts";
import { listChanges } from "../postgres/changes.ts";
import { listProcesses } from "../postgres/processes.ts";
import { listDisabled } from "../postgres/subscription-list.ts";
import type { Dependencies } from "./dependencies.ts";
import { everywhere, lacking } from "./everywhere.ts";
import { mergeProcesses } from "./processes.ts";
import { readTime } from "./queries.ts";
import type { Shards } from "./shards.ts";

export type MarkView = Omit<Mark, "at"> & { at: string };

/** The longest list, and the most that are read of each kind. */
const MARKS_MAX = 200;

/** Returns the latest changes of the service since a time, latest first. Default: as far back as they are kept. */
export async function viewMarks(
  shards: Shards,
  query: { since?: string | undefined },
): Promise<{ items: MarkView[]; unavailable_shards?: string[] }> {
  const faults: Fault[] = [];
  const since = readTime("/since", query.since, faults) ?? after(shards.clock(), -MARKS_KEPT_MS);
  requireNoFaults(faults);
  const kept = after(shards.clock(), -MARKS_KEPT_MS);
  const { values, away } = await everywhere(shards, (deps) => readMarks(deps, { since, kept }));
  const processes = mergeProcesses(values.map((part) => part.processes));
  const marks = [
    ...marksOfProcesses(processes, shards.clock()),
    ...values.flatMap((part) => part.marks),
  ];
  const items = marks
    .filter(({ at }) => at >= since)
    .sort((a, b) => b.at.getTime() - a.at.getTime())
    .slice(0, MARKS_MAX)
    .map((mark) => ({ ...mark, at: mark.at.toISOString() }));
  return lacking(away, { items });
}

/** Reads all kept processes, because a release differs from the process before it. */
async function readMarks(
  { db }: Pick<Dependencies, "db">,
  { since, kept }: { since: Date; kept: Date },
) {
  const page = { after: null, limit: MARKS_MAX };
  const [processes, disabled, changes] = await Promise.all([
    listProcesses(db, kept),
    listDisabled(db, since, MARKS_MAX),
    listChanges(db, { since, withReads: false }, page),
  ]);
  const marks: Mark[] = [
    ...disabled.map(({ host, at }) => ({
      ...{ at, kind: "disabled" as const },
      label: `${host ?? "a receiver"} was auto-disabled`,
    })),
    ...changes.map(({ at, operator, action }) => ({
      ...{ at, kind: "changed" as const },
      label: `${operator}: ${action.replaceAll("_", " ")}`,
    })),
  ];
  return { processes, marks };
}
